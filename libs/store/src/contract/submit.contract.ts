import { admit, isDeadmanError } from '@deadman/domain';
import type { JobSpec, RetryPolicy, StoreNotice, Submission } from '@deadman/domain';
import { aCancel, aJobSpec, aSubmission, aSubmissionDueIn, eventually } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { applyOne, failureOf, jobNow, outboxRows, submitOne, told } from './store-under-test.contract.js';
import type { StoreUnderTest } from './store-under-test.contract.js';

const RETRY_POLICIES: readonly RetryPolicy[] = [
  { kind: 'none' },
  { kind: 'fixed', baseMs: 1_500 },
  { kind: 'exponential', baseMs: 100, factor: 1.5, maxMs: 60_000, jitter: 'equal' },
];

const UNSTORABLE: readonly (readonly [string, Partial<JobSpec>])[] = [
  ['a NUL in the payload', { payload: '"a\0b"' }],
  ['a lone surrogate in the payload', { payload: '"\ud800"' }],
  ['a NUL in the type', { type: 'a\0b' }],
  ['a NUL in the queue', { queue: 'a\0b' }],
  ['a lone surrogate in a tag', { tags: ['fine', '\udfff'] }],
  ['a NUL in the key', { idempotencyKey: 'a\0b' }],
  ['a NUL in the trace context', { traceparent: '\0' }],
];

export function submitContract(given: () => StoreUnderTest): void {
  describe('submit', () => {
    it('stores a job as it was handed in, to the letter', async () => {
      const { store } = given();
      const spec = aJobSpec({
        type: 'order.charge',
        queue: 'bulk',
        payload: '{"n":12345678901234567890,"d":1.10,"10":1,"2":"\\u0000 😀 ‮"}',
        maxAttempts: 7,
        timeoutMs: 31_536_000_000,
        tags: ['tenant:acme', 'a,b', 'quote"d', 'back\\slash', '{brace}', 'NULL', '', 'toString'],
        idempotencyKey: 'order-1299',
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      });
      await store.submit([{ job: spec, transition: admit(spec.id, { kind: 'now' }), fingerprint: { type: 'x' } }]);
      const job = await jobNow(store, spec.id);
      expect(job).toEqual({
        ...spec,
        state: 'PENDING',
        version: 1,
        attempt: 0,
        failures: 0,
        lapses: 0,
        lapsesInRow: 0,
        crashes: 0,
        snoozes: 0,
        result: null,
        createdAt: job.createdAt,
        scheduledFor: job.createdAt,
        startedAt: null,
        finishedAt: null,
        cancelRequestedAt: null,
        lastError: null,
        claim: null,
        workerSeenAt: null,
        progress: null,
      });
    });

    it('answers with the row that it stored', async () => {
      const { store } = given();
      const batch = RETRY_POLICIES.map((retry) => aSubmission({ retry, tags: ['a', 'b'] }));
      const { results } = await store.submit(batch);
      for (const { kind, job } of results) {
        expect(kind).toBe('created');
        expect(await jobNow(store, job.id)).toMatchObject({ ...job });
      }
      expect(results.map(({ job }) => job.retry)).toEqual(RETRY_POLICIES);
    });

    it('keeps the order of the batch in its answer', async () => {
      const batch = Array.from({ length: 50 }, () => aSubmission()).toReversed();
      const { results } = await given().store.submit(batch);
      expect(results.map(({ job }) => job.id)).toEqual(batch.map(({ job }) => job.id));
    });

    it('stores nothing of nothing', async () => {
      expect(await given().store.submit([])).toEqual({ results: [], outbox: [] });
    });

    it('schedules a job by a delay on the database clock, and by an instant', async () => {
      const { store, now } = given();
      const at = new Date((await now()).getTime() + 3_600_000);
      const delayed = aSubmissionDueIn(90_000);
      const dated = aSubmission({}, { kind: 'at', at });
      const { results, outbox } = await store.submit([delayed, dated]);
      const [first, second] = results.map(({ job }) => job);
      expect(first).toMatchObject({ state: 'SCHEDULED' });
      expect(first!.scheduledFor.getTime() - first!.createdAt.getTime()).toBe(90_000);
      expect(second).toMatchObject({ state: 'SCHEDULED', scheduledFor: at });
      expect(outbox).toEqual([]);
      expect(await outboxRows(store)).toEqual([]);
    });

    it('takes an instant in the past for now', async () => {
      const { store } = given();
      const { results } = await store.submit([aSubmission({}, { kind: 'at', at: new Date(0) })]);
      const { state, scheduledFor, createdAt } = results[0]!.job;
      expect({ state, scheduledFor }).toEqual({ state: 'PENDING', scheduledFor: createdAt });
    });

    it('writes one outbox row per queue, holding what is ready and nothing else', async () => {
      const { store } = given();
      const ready = [aSubmission(), aSubmission({ queue: 'bulk' }), aSubmission()];
      const { outbox } = await store.submit([
        ...ready,
        aSubmissionDueIn(60_000),
        aSubmissionDueIn(60_000, { queue: 'late' }),
      ]);
      const [first, second, third] = ready.map(({ job }) => job.id);
      expect(told(outbox)).toEqual(
        told([
          { id: '', kind: 'ready', queue: 'default', jobIds: [first!, third!] },
          { id: '', kind: 'ready', queue: 'bulk', jobIds: [second!] },
        ]),
      );
      const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
      expect([...(await outboxRows(store))].toSorted(byId)).toEqual([...outbox].toSorted(byId));
    });

    it('stores a repeated request once and sends nothing twice', async () => {
      const { store } = given();
      const batch = [aSubmission(), aSubmission({ idempotencyKey: 'k' }), aSubmissionDueIn(60_000)];
      const first = await store.submit(batch);
      const second = await store.submit([...batch, batch[0]!]);
      expect(second.results).toEqual([...first.results, first.results[0]]);
      expect(second.outbox).toEqual([]);
      expect(await store.countJobs({}, 100)).toBe(3);
    });

    it('refuses a transition that the domain did not make', async () => {
      const { store } = given();
      const genuine = aSubmission();
      const forged = Object.assign({}, genuine.transition) as unknown as Submission['transition'];
      expect(await failureOf(store.submit([{ ...genuine, transition: forged }]))).toBeInstanceOf(TypeError);
      expect(await failureOf(store.submit([{ ...genuine, job: aJobSpec() }]))).toBeInstanceOf(TypeError);
      expect(await store.countJobs({}, 10)).toBe(0);
    });

    it.each(UNSTORABLE)('rejects the whole batch for %s and changes nothing', async (_what, overrides) => {
      const { store } = given();
      const good = aSubmission({ idempotencyKey: 'good' });
      const call = store.submit([good, aSubmission(overrides), aSubmission()]);
      expect(await failureOf(call)).toBe('data-rejected');
      expect(await store.countJobs({}, 10)).toBe(0);
      expect(await outboxRows(store)).toEqual([]);
      expect((await store.submit([aSubmission({ idempotencyKey: 'good' })])).results[0]!.kind).toBe('created');
    });
  });

  describe('idempotency keys', () => {
    it('answer with the job that has the key, and with the request it was made from', async () => {
      const { store } = given();
      const first = aSubmission({ idempotencyKey: 'k', payload: '1' });
      await store.submit([first]);
      const { results, outbox } = await store.submit([
        aSubmission({ idempotencyKey: 'k', payload: '2' }),
        aSubmission(),
      ]);
      expect(results[0]).toMatchObject({ kind: 'replayed', job: { id: first.job.id, payload: '1' } });
      expect(results[0]).toHaveProperty('fingerprint', first.fingerprint);
      expect(results[1]!.kind).toBe('created');
      expect(outbox).toMatchObject([{ jobIds: [results[1]!.job.id] }]);
    });

    it('count as existing from their second time in one batch on', async () => {
      const { store } = given();
      const batch = ['a', 'b', 'a', 'a'].map((idempotencyKey) => aSubmission({ idempotencyKey }));
      const { results } = await store.submit(batch);
      expect(results.map(({ kind }) => kind)).toEqual(['created', 'created', 'replayed', 'replayed']);
      expect(results.map(({ job }) => job.id)).toEqual([0, 1, 0, 0].map((place) => batch[place]!.job.id));
      expect(await store.countJobs({}, 10)).toBe(2);
    });

    it('make one job of 100 submits at once', async () => {
      const { store } = given();
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => store.submit([aSubmission({ idempotencyKey: 'storm' })])),
      );
      const results = answers.map(({ results: [only] }) => only!);
      expect(results.filter(({ kind }) => kind === 'created')).toHaveLength(1);
      expect(new Set(results.map(({ job }) => job.id)).size).toBe(1);
      expect(await store.countJobs({}, 10)).toBe(1);
      expect(await outboxRows(store)).toHaveLength(1);
    });

    it('never deadlock two batches that hold them in opposite order', async () => {
      const { store } = given();
      const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
      const rounds = Array.from({ length: 40 }, (_, round) =>
        store.submit((round % 2 ? keys : keys.toReversed()).map((idempotencyKey) => aSubmission({ idempotencyKey }))),
      );
      const results = (await Promise.all(rounds)).flatMap((receipt) => receipt.results);
      expect(results.filter(({ kind }) => kind === 'created')).toHaveLength(keys.length);
    });

    it('answer with the job as it is now, also after it ended', async () => {
      const { store } = given();
      const job = await submitOne(store, { idempotencyKey: 'k' });
      await applyOne(store, aCancel(job));
      const { results } = await store.submit([aSubmission({ idempotencyKey: 'k' })]);
      expect(results[0]).toMatchObject({ kind: 'replayed', job: { id: job.id, state: 'CANCELLED' } });
    });

    it('may be named like anything', async () => {
      const { store } = given();
      const keys = ['__proto__', 'toString', '😀', "'; DROP TABLE jobs; --", '{"a"}', 'NULL', ' '];
      const submit = (): ReturnType<typeof store.submit> =>
        store.submit(keys.map((idempotencyKey) => aSubmission({ idempotencyKey })));
      expect((await submit()).results.map(({ kind }) => kind)).toEqual(keys.map(() => 'created'));
      expect((await submit()).results.map(({ kind }) => kind)).toEqual(keys.map(() => 'replayed'));
    });
  });

  describe('the notice of a job that is due soon', () => {
    it('is sent when the next scan may come too late, and not otherwise', async () => {
      const { store, notices } = given();
      const heard: StoreNotice[] = [];
      const { unsubscribe } = await notices.subscribe((notice) => heard.push(notice));
      await store.submit([aSubmission(), aSubmissionDueIn(3_600_000)]);
      await store.submit([aSubmissionDueIn(400), aSubmissionDueIn(500)]);
      await eventually(() => expect(heard).toEqual([{ kind: 'due' }]));
      await unsubscribe();
    });
  });

  it('throws nothing but operational errors and bugs', async () => {
    const error = await given()
      .store.submit([aSubmission({ payload: '\0' })])
      .catch((caught: unknown) => caught);
    expect(isDeadmanError(error, 'data-rejected')).toBe(true);
  });
}
