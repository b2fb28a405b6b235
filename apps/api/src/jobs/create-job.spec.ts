import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorsOf, postText, startApi } from '../testing/api-under-test.contract.js';
import type { ApiUnderTest } from '../testing/api-under-test.contract.js';
import { memoryParts } from '../testing/memory-parts.contract.js';

let api: ApiUnderTest;

beforeAll(async () => void (api = await startApi(memoryParts())));
afterAll(() => api.close());

const inYears = (years: number): string => new Date(Date.now() + years * 365.25 * 86_400_000).toISOString();

describe('POST /jobs refuses', () => {
  it.each([
    ['an absent type', {}, 'missing-member /type'],
    ['a type in capitals', { type: 'Order' }, 'invalid-format /type'],
    ['a type that ends in a dot', { type: 'order.' }, 'invalid-format /type'],
    ['an empty type', { type: '' }, 'invalid-format /type'],
    ['a type of 129 characters', { type: 'a'.repeat(129) }, 'invalid-format /type'],
    ['a type that climbs', { type: '../x' }, 'invalid-format /type'],
    ['a type that is no text', { type: 1 }, 'invalid-type /type'],
    ['a slip in a name', { type: 'a', runat: '2030-01-01T00:00:00Z' }, 'unknown-member /runat'],
    ['a name of the prototype', JSON.parse('{"type":"a","__proto__":{}}') as object, 'unknown-member /__proto__'],
    ['toString', { type: 'a', toString: 1 }, 'unknown-member /toString'],
    ['a name with a slash', { type: 'a', 'x/~y': 1 }, 'unknown-member /x~1~0y'],
    ['the key as a member', { type: 'a', idempotencyKey: 'k' }, 'unknown-member /idempotencyKey'],
    ['a null', { type: 'a', queue: null }, 'invalid-type /queue'],
    ['a day that does not exist', { type: 'a', runAt: '2027-02-30T00:00:00Z' }, 'invalid-format /runAt'],
    ['no zone', { type: 'a', runAt: '2027-02-28T00:00:00' }, 'invalid-format /runAt'],
    ['a zone of 25 hours', { type: 'a', runAt: '2027-02-28T00:00:00+25:00' }, 'invalid-format /runAt'],
    ['a date alone', { type: 'a', runAt: '2027-02-28' }, 'invalid-format /runAt'],
    ['24 o’clock', { type: 'a', runAt: '2027-02-28T24:00:00Z' }, 'invalid-format /runAt'],
    ['a leap second', { type: 'a', runAt: '2027-06-30T23:59:60Z' }, 'invalid-format /runAt'],
    ['the year 9999', { type: 'a', runAt: '9999-01-01T00:00:00Z' }, 'out-of-range /runAt'],
    ['eleven years ahead', { type: 'a', runAt: inYears(11) }, 'out-of-range /runAt'],
    ['milliseconds', { type: 'a', runAt: 1_800_000_000_000 }, 'invalid-type /runAt'],
    ['2147483647 seconds', { type: 'a', delaySeconds: 2_147_483_647 }, 'out-of-range /delaySeconds'],
    ['2147483648 seconds', { type: 'a', delaySeconds: 2_147_483_648 }, 'out-of-range /delaySeconds'],
    ['1e13 seconds', { type: 'a', delaySeconds: 1e13 }, 'out-of-range /delaySeconds'],
    ['-1 seconds', { type: 'a', delaySeconds: -1 }, 'out-of-range /delaySeconds'],
    ['1.5 seconds', { type: 'a', delaySeconds: 1.5 }, 'invalid-type /delaySeconds'],
    ['"5s"', { type: 'a', delaySeconds: '5s' }, 'invalid-type /delaySeconds'],
    ['both', { type: 'a', delaySeconds: 1, runAt: '2027-02-28T00:00:00Z' }, 'conflicting-members /delaySeconds'],
    ['no attempts', { type: 'a', maxAttempts: 0 }, 'out-of-range /maxAttempts'],
    ['1,001 attempts', { type: 'a', maxAttempts: 1_001 }, 'out-of-range /maxAttempts'],
    ['half an attempt', { type: 'a', maxAttempts: 1.5 }, 'invalid-type /maxAttempts'],
    ['no time', { type: 'a', timeoutSeconds: 0 }, 'out-of-range /timeoutSeconds'],
    ['more than a week', { type: 'a', timeoutSeconds: 604_801 }, 'out-of-range /timeoutSeconds'],
    ['an unknown policy', { type: 'a', retry: { kind: 'linear' } }, 'invalid-value /retry/kind'],
    ['a policy without a kind', { type: 'a', retry: {} }, 'invalid-value /retry/kind'],
    ['a policy that is a text', { type: 'a', retry: 'none' }, 'invalid-type /retry'],
    [
      'a member of another policy',
      { type: 'a', retry: { kind: 'none', baseSeconds: 1 } },
      'unknown-member /retry/baseSeconds',
    ],
    ['a negative base', { type: 'a', retry: { kind: 'fixed', baseSeconds: -1 } }, 'out-of-range /retry/baseSeconds'],
    ['a factor below 1', { type: 'a', retry: { kind: 'exponential', factor: 0.5 } }, 'out-of-range /retry/factor'],
    [
      'a jitter it does not know',
      { type: 'a', retry: { kind: 'exponential', jitter: 'some' } },
      'invalid-value /retry/jitter',
    ],
    [
      'a maximum below the base',
      { type: 'a', retry: { kind: 'exponential', baseSeconds: 10, maxSeconds: 5 } },
      'out-of-range /retry/maxSeconds',
    ],
    ['21 tags', { type: 'a', tags: Array.from({ length: 21 }, String) }, 'out-of-range /tags'],
    ['an empty tag', { type: 'a', tags: ['x', ''] }, 'invalid-format /tags/1'],
    ['a tag of 257 characters', { type: 'a', tags: ['😀'.repeat(257)] }, 'invalid-format /tags/0'],
    ['a tag that is a number', { type: 'a', tags: [1] }, 'invalid-type /tags/0'],
  ])('400: %s', async (_what, body, error) => {
    const answer = await postText(api, '/jobs', JSON.stringify(body));
    expect([answer.status, ...errorsOf(answer)]).toEqual([400, error]);
    expect(answer.body.code).toBe('invalid-request');
  });

  it.each([
    ['a member twice', '{"type":"a","queue":"default","type":"b"}', 'duplicate-member /type'],
    ['the payload twice', '{"type":"a","payload":1,"payload":2}', 'duplicate-member /payload'],
    ['a member of retry twice', '{"type":"a","retry":{"kind":"none","kind":"none"}}', 'duplicate-member /retry/kind'],
    ['a member twice, once escaped', '{"type":"a","\\u0074ype":"b"}', 'duplicate-member /type'],
    ['a number beyond doubles', '{"type":"a","delaySeconds":1e400}', 'invalid-type /delaySeconds'],
  ])('400: %s', async (_what, text, error) => {
    const answer = await postText(api, '/jobs', text);
    expect([answer.status, ...errorsOf(answer)]).toEqual([400, error]);
  });

  it.each([
    ['NUL in a text', '{"type":"a","payload":{"a":["x","\\u0000"]}}', 'nul /payload/a/1'],
    ['NUL in a name', '{"type":"a","payload":{"a\\u0000b":1}}', 'nul /payload/a\u0000b'],
    ['a lone high surrogate', '{"type":"a","payload":"\\ud83d"}', 'lone-surrogate /payload'],
    ['a lone low surrogate', '{"type":"a","payload":["\\ude00\\ud83d"]}', 'lone-surrogate /payload/0'],
    ['a surrogate in a name', '{"type":"a","payload":[{"\\udead":1}]}', 'lone-surrogate /payload/0/\udead'],
    ['NUL in a tag', '{"type":"a","tags":["x","\\u0000"]}', 'nul /tags/1'],
    ['a surrogate in a tag', '{"type":"a","tags":["\\ud83d"]}', 'lone-surrogate /tags/0'],
    ['NUL in the type', '{"type":"\\u0000"}', 'nul /type'],
  ])('422 with the place: %s', async (_what, text, error) => {
    const answer = await postText(api, '/jobs', text);
    expect([answer.status, answer.body.code, ...errorsOf(answer)]).toEqual([422, 'text-not-storable', error]);
  });

  it('a backslash that is itself escaped is no NUL', async () => {
    const answer = await postText(api, '/jobs', '{"type":"a","payload":"\\\\u0000 \\ud83d\\ude00"}');
    expect(answer.status).toBe(201);
  });

  it('422: a payload of 101 levels, and 100,000 levels just as well', async () => {
    for (const levels of [101, 100_000]) {
      const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`;
      const answer = await postText(api, '/jobs', `{"type":"a","payload":${deep}}`);
      expect([answer.status, answer.body.code, ...errorsOf(answer)]).toEqual([
        422,
        'payload-too-deep',
        'payload-too-deep /payload',
      ]);
    }
  });

  it('the lowest status answers, and the faults of all are told', async () => {
    const text = '{"type":"A","x":1,"queue":"nope","payload":{"a":"\\u0000"},"runAt":"9999-01-01T00:00:00Z"}';
    const answer = await postText(api, '/jobs?y=1', text, { 'idempotency-key': '' });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid-request']);
    expect(errorsOf(answer).toSorted()).toEqual([
      'invalid-format /type',
      'invalid-idempotency-key Idempotency-Key',
      'nul /payload/a',
      'out-of-range /runAt',
      'unknown-member /x',
      'unknown-parameter y',
      'unknown-queue /queue',
    ]);
  });

  it('several faults of 422 are one problem that lists them', async () => {
    const answer = await postText(api, '/jobs', '{"type":"a","queue":"nope","payload":"\\u0000"}');
    expect([answer.status, answer.body.code]).toEqual([422, 'unprocessable-request']);
    expect(errorsOf(answer)).toEqual(['unknown-queue /queue', 'nul /payload']);
  });

  it('a body with 70,000 faults gets a bounded answer that says how many were left out', async () => {
    const body = Object.fromEntries(Array.from({ length: 70_000 }, (_, index) => [`x${index}`, 1]));
    const answer = await postText(api, '/jobs', JSON.stringify(body));
    expect(answer.body.errors).toHaveLength(1_000);
    expect(answer.body.errorsOmitted).toBe(69_001);
  });

  it('pointers through a long name do not multiply the answer', async () => {
    const name = 'n'.repeat(100_000);
    const text = `{"type":"a","payload":{"${name}":[${Array.from({ length: 5_000 }, () => '"\\u0000"').join()}]}}`;
    const answer = await postText(api, '/jobs', text);
    expect(answer.status).toBe(422);
    expect(answer.text.length).toBeLessThan(500_000);
  });

  it('details quote nothing of the payload', async () => {
    const answer = await postText(
      api,
      '/jobs',
      '{"type":"SECRET","tags":[""],"retry":{"kind":"SECRET"},"payload":"\\u0000SECRET"}',
    );
    expect(answer.text).not.toContain('SECRET');
  });
});
