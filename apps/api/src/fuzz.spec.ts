import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Response } from 'supertest';
import { ProblemResource } from './openapi/resources.js';
import { postText, startApi } from './testing/api-under-test.contract.js';
import type { ApiUnderTest } from './testing/api-under-test.contract.js';
import { memoryParts } from './testing/memory-parts.contract.js';

/** fast-check prints the seed of a failing run; `DEADMAN_FUZZ_SEED` repeats one and `DEADMAN_FUZZ_RUNS` makes more of them. */
const RUNS = {
  seed: Number(process.env['DEADMAN_FUZZ_SEED'] ?? 20_261_129),
  numRuns: Number(process.env['DEADMAN_FUZZ_RUNS'] ?? 250),
};

let api: ApiUnderTest;
let jobIds: readonly string[] = [];

beforeAll(async () => {
  api = await startApi(memoryParts());
  jobIds = [(await api.submit()).id, (await api.submit({ delaySeconds: 60 })).id];
});
afterAll(() => api.close());

/** No request makes the api fail, and whatever it refuses it refuses with a problem that keeps its own rules. */
function expectAnswered(answer: Response): void {
  expect(answer.status).toBeLessThan(500);
  expect(answer.headers['x-request-id']).toBeDefined();
  if (answer.status < 400) return;
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(ProblemResource.safeParse(answer.body).error).toBeUndefined();
  expect(answer.body).toMatchObject({ status: answer.status, requestId: answer.headers['x-request-id'] });
}

/** Nearly right values, so that faults meet in every combination, among values that are nothing of the kind. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0, 1.5, 1e13, 2 ** 31, '', '\0', '\ud800', '5s', '__proto__', [], {}, [[]]),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
);
const or = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 3, arbitrary: value }, { weight: 1, arbitrary: odd });
const job = fc.record(
  {
    type: or(fc.constantFrom('demo.echo', 'order.charge', 'a-b_c.d')),
    payload: fc.oneof(fc.jsonValue({ maxDepth: 5 }), odd),
    queue: or(fc.constantFrom('default', 'mail')),
    runAt: or(fc.date({ noInvalidDate: true }).map((date) => date.toISOString())),
    delaySeconds: or(fc.integer()),
    maxAttempts: or(fc.integer({ min: 0, max: 1_001 })),
    retry: or(
      fc.record(
        {
          kind: or(fc.constantFrom('none', 'fixed', 'exponential')),
          baseSeconds: or(fc.nat()),
          factor: or(fc.double()),
          maxSeconds: or(fc.nat()),
          jitter: or(fc.constantFrom('full', 'equal', 'none')),
        },
        { requiredKeys: ['kind'] },
      ),
    ),
    timeoutSeconds: or(fc.integer()),
    tags: or(fc.array(fc.string({ unit: 'binary' }))),
    idempotencyKey: or(fc.string()),
  },
  { requiredKeys: ['type'] },
);
const headers = fc.record(
  {
    'idempotency-key': fc.string({ unit: fc.constantFrom('a', '"', '\\', ' ', 'ÿ', ','), maxLength: 6 }),
    prefer: fc.constantFrom('handling=strict', 'handling=lenient', ',;=', 'handling'),
    'x-request-id': fc.constantFrom('ok', 'not ok', '<>'),
    traceparent: fc.constantFrom('00-x', ''),
  },
  { requiredKeys: [] },
);

describe('no request makes the api fail', () => {
  it('POST /jobs with bodies that are nearly right', async () => {
    await fc.assert(
      fc.asyncProperty(job, headers, async (body, sent) => {
        expectAnswered(await postText(api, '/jobs', JSON.stringify(body), sent));
      }),
      RUNS,
    );
  });

  it('POST /jobs/batch with jobs that are nearly right', async () => {
    const batch = fc.record(
      { mode: or(fc.constantFrom('atomic', 'partial')), jobs: or(fc.array(or(job), { maxLength: 5 })) },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(batch, headers, async (body, sent) => {
        expectAnswered(await postText(api, '/jobs/batch', JSON.stringify(body), sent));
      }),
      RUNS,
    );
  });

  it('bodies that are cut, doubled or damaged', async () => {
    const damaged = fc
      .tuple(job, fc.nat(), fc.constantFrom('', '{', '}', '"', '\\', ',', '\u0001', '\\u', '1e', '[['))
      .map(([body, at, what]) => {
        const text = JSON.stringify(body);
        const cut = at % (text.length + 1);
        return text.slice(0, cut) + what + text.slice(cut + (at % 3));
      });
    await fc.assert(
      fc.asyncProperty(damaged, fc.constantFrom('/jobs', '/jobs/batch', `/jobs/x/retry`), async (text, path) => {
        expectAnswered(await postText(api, path, text));
      }),
      RUNS,
    );
  });

  it('what was taken comes back as it was sent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t'), async (value, indent) => {
        const payload = JSON.stringify(value, null, indent);
        const made = await postText(api, '/jobs', `{"payload":${payload},"type":"demo.echo"}`);
        const isStorable = !/\\u0000|\\ud[89a-f]/i.test(payload);
        if (!isStorable) return expectAnswered(made);
        expect(made.status).toBe(201);
        const read = await api.http.get(`/jobs/${made.body.id}`);
        expect(read.text).toContain(`"payload":${payload},"result":null`);
      }),
      RUNS,
    );
  });

  it('lists with parameters of every kind', async () => {
    const text = fc.oneof(
      fc.constantFrom(
        'pending',
        'DEAD,failed',
        'x',
        '',
        '0',
        '-1',
        '50',
        '1e3',
        '2026-01-01T00:00:00Z',
        '-createdAt',
        'exact',
        '\0',
        'demo.echo',
      ),
      fc.string({ unit: 'binary', maxLength: 40 }),
    );
    const name = fc.oneof(
      fc.constantFrom(
        'state',
        'type',
        'queue',
        'tag',
        'createdAfter',
        'createdBefore',
        'sort',
        'limit',
        'cursor',
        'count',
        'reason',
        'x',
      ),
      fc.string({ maxLength: 10 }),
    );
    const path = fc.constantFrom('/jobs', '/dead-letters', '/queues', `/jobs/x/attempts`);
    await fc.assert(
      fc.asyncProperty(path, fc.array(fc.tuple(name, text), { maxLength: 4 }), async (where, parameters) => {
        const query = parameters.map(([left, right]) => `${encode(left)}=${encode(right)}`).join('&');
        expectAnswered(await api.http.get(`${where}?${query}`));
      }),
      RUNS,
    );
  });

  it('any method on any path', async () => {
    const segment = fc.oneof(
      fc.constantFrom(
        'jobs',
        'batch',
        'retry',
        'attempts',
        'queues',
        'default',
        'dead-letters',
        'redrive',
        'problems',
        'docs',
        '..',
        '%00',
        '%ff',
        '%2f',
      ),
      fc.nat({ max: 1 }).map((index) => jobIds[index] ?? 'x'),
      fc.string({ unit: 'binary', maxLength: 20 }).map(encode),
    );
    const method = fc.constantFrom('get', 'post', 'put', 'patch', 'delete', 'options', 'head' as const);
    await fc.assert(
      fc.asyncProperty(
        method,
        fc.array(segment, { maxLength: 4 }),
        fc.constantFrom(undefined, '{}', '{"a":1}', 'x'),
        async (verb, segments, body) => {
          const request = api.http[verb](`/${segments.join('/')}`);
          const answer = await (body === undefined || verb === 'get' || verb === 'head'
            ? request
            : request.set('content-type', 'application/json').send(body));
          if (verb === 'head') expect(answer.status).toBeLessThan(500);
          else expectAnswered(answer);
        },
      ),
      RUNS,
    );
  });
});

/** Lone surrogates have no UTF-8 and so no percent-encoding. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
