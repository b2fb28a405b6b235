import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { errorsOf, postText } from '../testing/api-under-test.contract.js';
import type { ApiUnderTest } from '../testing/api-under-test.contract.js';

interface Item {
  readonly index: number;
  readonly status: number;
  readonly job?: { readonly id: string };
  readonly problem?: { readonly code: string };
  readonly replayed: boolean;
  readonly mismatch: readonly string[];
}

/** `POST /jobs/batch`, on any store. */
export function batchContract(given: () => ApiUnderTest): void {
  const post = (body: object, headers: object = {}): Promise<Response> =>
    postText(given(), '/jobs/batch', JSON.stringify(body), headers);
  const itemsOf = ({ body }: Response): readonly Item[] => body.items;
  const countOf = async (tag: string): Promise<number> =>
    (await given().http.get('/jobs').query({ tag, count: 'exact' })).body.count;

  describe('POST /jobs/batch', () => {
    it('atomic: 201, all jobs in the order of the request', async () => {
      const tag = randomUUID();
      const jobs = [1, 2, 3].map((n) => ({ type: 'demo.echo', payload: n, tags: [tag] }));
      const answer = await post({ jobs });
      expect(answer.status).toBe(201);
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store' });
      expect(answer.body.items).toMatchObject(
        jobs.map(({ payload }, index) => ({ index, status: 201, job: { payload }, replayed: false, mismatch: [] })),
      );
      expect(await countOf(tag)).toBe(3);
    });

    it('payloads come back as they were sent', async () => {
      const text = '{"jobs":[{"type":"demo.echo","payload":{"d":1.10,"n":1e400}},{"payload":-0,"type":"demo.echo"}]}';
      const answer = await postText(given(), '/jobs/batch', text);
      expect(answer.text).toContain('"payload":{"d":1.10,"n":1e400},');
      expect(answer.text).toContain('"payload":-0,');
    });

    it('atomic: one bad job refuses all, and all faults are told with their places', async () => {
      const tag = randomUUID();
      const answer = await post({
        jobs: [
          { type: 'demo.echo', tags: [tag] },
          { type: 'demo.echo', runAt: 'soon', x: 1 },
          { type: 'demo.echo', payload: { a: ['\0'] }, queue: 'nope' },
          7,
        ],
      });
      expect(answer.status).toBe(400);
      expect(errorsOf(answer)).toEqual([
        'invalid-format /jobs/1/runAt',
        'unknown-member /jobs/1/x',
        'unknown-queue /jobs/2/queue',
        'nul /jobs/2/payload/a/0',
        'invalid-type /jobs/3',
      ]);
      expect(await countOf(tag)).toBe(0);
    });

    it('partial: 207, the good ones are stored once and the bad ones say why; repeating changes nothing', async () => {
      const tag = randomUUID();
      const old = await given().submit({ tags: [tag] }, { 'idempotency-key': `${tag}-old` });
      const job = { type: 'demo.echo', tags: [tag] };
      const body = {
        mode: 'partial',
        jobs: [
          { ...job, idempotencyKey: `${tag}-1` },
          { ...job, delaySeconds: -1 },
          { ...job, payload: 1, idempotencyKey: `${tag}-1` },
          { ...job, idempotencyKey: `"${tag}-old"` },
          { ...job, queue: 'nope' },
          { ...job, payload: 'x'.repeat(262_143) },
          { ...job, idempotencyKey: '' },
        ],
      };
      const first = await post(body);
      expect(first.status).toBe(207);
      const outcome = ({ index, status, problem, replayed, mismatch }: Item): unknown[] => [
        index,
        status,
        problem?.code ?? replayed,
        ...mismatch,
      ];
      const [one, , twice] = itemsOf(first);
      expect(one?.job?.id).toBe(twice?.job?.id);
      expect(new Set([one?.status, twice?.status])).toEqual(new Set([200, 201]));
      expect(itemsOf(first).slice(3).map(outcome)).toEqual([
        [3, 200, true],
        [4, 422, 'unknown-queue'],
        [5, 413, 'payload-too-large'],
        [6, 400, 'invalid-idempotency-key'],
      ]);
      expect(itemsOf(first)[3]?.job?.id).toBe(old.id);
      expect(await countOf(tag)).toBe(2);
      const again = await post(body);
      expect(itemsOf(again).map(({ status }) => status)).toEqual([200, 400, 200, 200, 422, 413, 400]);
      expect(itemsOf(again)[0]?.job?.id).toBe(one?.job?.id);
      expect(await countOf(tag)).toBe(2);
    });

    it('atomic: one key twice is one job, and 200 when all were there', async () => {
      const key = randomUUID();
      const jobs = [
        { type: 'demo.echo', idempotencyKey: key },
        { type: 'order.charge', idempotencyKey: key },
      ];
      const first = await post({ mode: 'atomic', jobs });
      expect(first.status).toBe(201);
      expect(itemsOf(first).map(({ status, mismatch }) => [status, ...mismatch])).toEqual([[201], [200, 'type']]);
      const again = await post({ jobs });
      expect(again.status).toBe(200);
      expect(new Set([...itemsOf(first), ...itemsOf(again)].map(({ job }) => job?.id)).size).toBe(1);
    });

    it('partial with Prefer: handling=strict refuses the reused key alone', async () => {
      const key = randomUUID();
      await given().submit({}, { 'idempotency-key': key });
      const jobs = [{ type: 'order.charge', idempotencyKey: key }, { type: 'demo.echo' }];
      const answer = await post({ mode: 'partial', jobs }, { prefer: 'handling=strict' });
      expect(itemsOf(answer).map(({ status, problem }) => [status, problem?.code])).toEqual([
        [422, 'idempotency-key-reused'],
        [201, undefined],
      ]);
    });

    it('takes 1,000 jobs and no more', async () => {
      const jobs = Array.from({ length: 1_001 }, () => ({ type: 'demo.echo' }));
      expect(itemsOf(await post({ jobs: jobs.slice(1) }))).toHaveLength(1_000);
      expect(errorsOf(await post({ jobs }))).toEqual(['out-of-range /jobs']);
    });

    it.each([
      ['no jobs', '{"jobs":[]}', 'out-of-range /jobs'],
      ['jobs missing', '{}', 'missing-member /jobs'],
      ['jobs that are none', '{"jobs":{}}', 'invalid-type /jobs'],
      ['an unknown mode', '{"mode":"some","jobs":[{"type":"a"}]}', 'invalid-value /mode'],
      ['an unknown member', '{"jobs":[{"type":"a"}],"job":1}', 'unknown-member /job'],
      ['jobs twice', '{"jobs":[{"type":"a"}],"jobs":[{"type":"a"}]}', 'duplicate-member /jobs'],
      ['a list', '[{"type":"a"}]', 'invalid-type '],
      ['a key that is no text', '{"jobs":[{"type":"a","idempotencyKey":1}]}', 'invalid-type /jobs/0/idempotencyKey'],
    ])('400: %s', async (_what, text, error) => {
      const answer = await postText(given(), '/jobs/batch', text);
      expect([answer.status, ...errorsOf(answer)]).toEqual([400, error]);
    });

    it('400: the header, because each job has a key of its own', async () => {
      const answer = await post({ jobs: [{ type: 'demo.echo' }] }, { 'idempotency-key': 'abc' });
      expect([answer.status, ...errorsOf(answer)]).toEqual([400, 'unexpected-header Idempotency-Key']);
    });

    it('a fault of the batch refuses a partial one whole', async () => {
      const answer = await post({ mode: 'partial', jobs: [{ type: 'demo.echo' }, { type: 'A' }], x: 1 });
      expect([answer.status, ...errorsOf(answer)]).toEqual([400, 'unknown-member /x', 'invalid-format /jobs/1/type']);
    });
  });
}
