import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { aFailure, aSubmission } from '@deadman/testing';
import { JobResource } from '../openapi/resources.js';
import { applyOne, errorsOf, postText } from '../testing/api-under-test.contract.js';
import type { ApiUnderTest } from '../testing/api-under-test.contract.js';

const JOB_MEMBERS =
  'id type queue state version payload result attempt failures lapses maxAttempts retry timeoutSeconds createdAt scheduledFor startedAt finishedAt lease cancelRequestedAt lastError progress idempotencyKey tags'.split(
    ' ',
  );

/** The five endpoints, status by status, on any store. */
export function jobsApiContract(given: () => ApiUnderTest): void {
  describe('POST /jobs', () => {
    it('201: a new job, with all members, its place and its version', async () => {
      const answer = await postText(given(), '/jobs', '{"type":"order.charge","payload":{"a":1},"tags":["x"]}');
      expect(answer.status).toBe(201);
      expect(Object.keys(answer.body).filter((name) => name !== 'warnings')).toEqual(JOB_MEMBERS);
      expect(JobResource.safeParse(answer.body).error).toBeUndefined();
      expect(answer.body).toMatchObject({
        type: 'order.charge',
        queue: 'default',
        state: 'pending',
        version: 1,
        payload: { a: 1 },
        attempt: 0,
        maxAttempts: 5,
        retry: { kind: 'exponential', baseSeconds: 2, factor: 2, maxSeconds: 600, jitter: 'full' },
        timeoutSeconds: 900,
        tags: ['x'],
        lease: null,
      });
      expect(answer.headers).toMatchObject({
        location: `/jobs/${answer.body.id}`,
        etag: 'W/"1.0"',
        'cache-control': 'no-store',
        'content-type': 'application/json; charset=utf-8',
      });
    });

    it.each([
      ['big integers, 1.10, the order of members', '{"n":12345678901234567890,"d":1.10,"10":1,"2":1}'],
      ['numbers that JavaScript cannot hold', '{"n":9007199254740993,"m":1e400,"z":-0,"e":1E+2}'],
      ['repeated members', '{"a":1,"a":2}'],
      ['white space', '{ "a" :\t[ 1 , 2 ]\n}'],
      ['names of every kind', '{"😀":1,"مرحبا":2,"../x":3,"toString":4,"__proto__":{"x":1},"constructor":5}'],
      ['a name of 256 characters', `{"${'n'.repeat(256)}":1}`],
      ['escapes as they were written', '"\\u00e9\\/\\ud83d\\ude00"'],
      ['a scalar', 'null'],
      ['an empty text', '""'],
    ])('a payload comes back as it was sent: %s', async (_what, payload) => {
      const answer = await postText(given(), '/jobs', `{"payload":${payload} ,"type":"demo.echo"}`);
      expect(answer.status).toBe(201);
      expect(answer.text).toContain(`"payload":${payload},"result"`);
      const read = await given().http.get(`/jobs/${answer.body.id}`);
      expect(read.text).toContain(`"payload":${payload},"result"`);
      const list = await given().http.get('/jobs').query({ limit: 200 });
      expect(list.text).toContain(`"payload":${payload},"result"`);
    });

    it('a payload of 262,144 bytes and 100 levels is taken', async () => {
      const large = `"${'x'.repeat(262_142)}"`;
      expect((await postText(given(), '/jobs', `{"type":"demo.echo","payload":${large}}`)).status).toBe(201);
      const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
      expect((await postText(given(), '/jobs', `{"type":"demo.echo","payload":${deep}}`)).status).toBe(201);
    });

    it.each([
      ['yesterday means now', { runAt: new Date(Date.now() - 86_400_000).toISOString() }, 'pending'],
      ['in an hour', { runAt: new Date(Date.now() + 3_600_000).toISOString() }, 'scheduled'],
      ['with an offset', { runAt: '2030-01-01T00:00:00.123456+14:00' }, 'scheduled'],
      ['0 seconds', { delaySeconds: 0 }, 'pending'],
      ['60 seconds', { delaySeconds: 60 }, 'scheduled'],
      ['nine years of seconds', { delaySeconds: 9 * 365 * 86_400 }, 'scheduled'],
    ])('runAt or delaySeconds: %s', async (_what, due, state) => {
      const answer = await postText(given(), '/jobs', JSON.stringify({ type: 'demo.echo', ...due }));
      expect([answer.status, answer.body.state]).toEqual([201, state]);
    });

    it('an instant is kept to the millisecond', async () => {
      const { scheduledFor } = await given().submit({ runAt: '2030-01-01T00:00:00.123999+14:00' });
      expect(scheduledFor).toBe('2029-12-31T10:00:00.123Z');
    });

    it.each([
      [{ kind: 'none' }, { kind: 'none' }],
      [{ kind: 'fixed' }, { kind: 'fixed', baseSeconds: 2 }],
      [
        { kind: 'exponential', baseSeconds: 900 },
        { kind: 'exponential', baseSeconds: 900, factor: 2, maxSeconds: 900, jitter: 'full' },
      ],
      [
        { kind: 'exponential', factor: 1.5, jitter: 'none' },
        { kind: 'exponential', baseSeconds: 2, factor: 1.5, maxSeconds: 600, jitter: 'none' },
      ],
    ])('absent members of retry take the defaults: %j', async (retry, full) => {
      expect(await given().submit({ retry })).toMatchObject({ retry: full });
    });

    it('422: an unknown queue, naming those that are declared', async () => {
      const answer = await postText(given(), '/jobs', '{"type":"demo.echo","queue":"nope"}');
      expect([answer.status, answer.body.code]).toEqual([422, 'unknown-queue']);
      expect(answer.body.errors[0]).toEqual({
        pointer: '/queue',
        code: 'unknown-queue',
        detail: 'The declared queues are: default, mail.',
      });
    });
  });

  describe('GET /jobs/{id}', () => {
    it('200: the job with its ETag; 304 while it is the same', async () => {
      const { id } = await given().submit();
      const first = await given().http.get(`/jobs/${id}`);
      expect(first.status).toBe(200);
      const etag = String(first.headers['etag']);
      for (const known of [etag, `"other", ${etag}`, '*', etag.replace('W/', '')]) {
        const again = await given().http.get(`/jobs/${id}`).set('if-none-match', known);
        expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag]);
      }
      await given().http.delete(`/jobs/${id}`).expect(200);
      const changed = await given().http.get(`/jobs/${id}`).set('if-none-match', etag);
      expect([changed.status, changed.body.state]).toEqual([200, 'cancelled']);
    });

    it('a running job has its lease and is never answered 304', async () => {
      const { id } = await given().submit();
      const { claim } = await given().claim(id);
      const first = await given().http.get(`/jobs/${id}`);
      expect(first.body).toMatchObject({
        state: 'running',
        lease: { workerId: claim.workerId, attempt: 1, claimedAt: claim.claimedAt.toISOString(), workerSeenAt: null },
      });
      const again = await given().http.get(`/jobs/${id}`).set('if-none-match', String(first.headers['etag']));
      expect(again.status).toBe(200);
      expect((await given().http.get(`/jobs/${id}`).set('if-none-match', '*')).status).toBe(200);
    });

    it('a failed job shows its last error and when it is tried again; a succeeded one its result', async () => {
      const { id } = await given().submit({ retry: { kind: 'fixed', baseSeconds: 60 } });
      await applyOne(
        given().store,
        aFailure(await given().claim(id), { name: 'Refused', message: 'no\u0001', code: 'x' }),
      );
      const failed = await given().http.get(`/jobs/${id}`);
      expect(failed.body).toMatchObject({
        state: 'failed',
        failures: 1,
        lease: null,
        lastError: { name: 'Refused', message: 'no\u0001', code: 'x', attempt: 1 },
      });
      await given().http.post(`/jobs/${id}/retry`).expect(200);
      await given().succeed(id, '{"n":1.10}');
      const succeeded = await given().http.get(`/jobs/${id}`);
      expect(succeeded.body).toMatchObject({ state: 'succeeded', attempt: 2 });
      expect(succeeded.text).toContain('"result":{"n":1.10}');
      expect(succeeded.body.finishedAt).not.toBeNull();
    });

    it.each([randomUUID(), 'x', '%00', '0197B1C2-6F3A-7C11-9D55-0A5C2F6F7E10', 'x'.repeat(2_000)])(
      '404: there is no job %s',
      async (id) => {
        const answer = await given().http.get(`/jobs/${id}`);
        expect([answer.status, answer.body.code]).toEqual([404, 'job-not-found']);
      },
    );
  });

  describe('DELETE /jobs/{id}', () => {
    it('200: a waiting job is cancelled, and cancelled again changes nothing', async () => {
      for (const members of [{}, { delaySeconds: 60 }]) {
        const { id } = await given().submit(members);
        const first = await given().http.delete(`/jobs/${id}`);
        expect([first.status, first.body.state]).toEqual([200, 'cancelled']);
        const again = await given().http.delete(`/jobs/${id}`);
        expect([again.status, again.headers['etag']]).toEqual([200, first.headers['etag']]);
      }
    });

    it('202: a running job is asked to stop, and asking again is the same', async () => {
      const { id } = await given().submit();
      await given().claim(id);
      const first = await given().http.delete(`/jobs/${id}`);
      expect([first.status, first.body.state, first.headers['location']]).toEqual([202, 'running', `/jobs/${id}`]);
      expect(first.body.cancelRequestedAt).not.toBeNull();
      const again = await given().http.delete(`/jobs/${id}`);
      expect([again.status, again.body.cancelRequestedAt]).toEqual([202, first.body.cancelRequestedAt]);
    });

    it.each(['succeeded', 'dead'])('409: a job that has ended %s, with its state', async (end) => {
      const { id } = await given().submit();
      await (end === 'dead' ? given().kill(id) : given().succeed(id));
      const answer = await given().http.delete(`/jobs/${id}`);
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ code: 'job-already-finished', state: end, jobId: id });
    });

    it('404: no such job', async () => {
      for (const id of [randomUUID(), 'x']) {
        expect((await given().http.delete(`/jobs/${id}`)).body.code).toBe('job-not-found');
      }
    });
  });

  describe('POST /jobs/{id}/retry', () => {
    it('200: a dead or cancelled job starts over with a new budget and keeps its attempts', async () => {
      const { id } = await given().submit();
      await given().kill(id);
      const answer = await given().http.post(`/jobs/${id}/retry`);
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ state: 'pending', failures: 0, attempt: 1, finishedAt: null });
      const attempts = await given().http.get(`/jobs/${id}/attempts`);
      expect(attempts.body.items).toHaveLength(1);
      await given().http.delete(`/jobs/${id}`).expect(200);
      expect((await given().http.post(`/jobs/${id}/retry`)).body).toMatchObject({
        state: 'pending',
        cancelRequestedAt: null,
      });
    });

    it('200: a scheduled or failed job runs now', async () => {
      const { id } = await given().submit({ delaySeconds: 3_600 });
      const answer = await given().http.post(`/jobs/${id}/retry`).send({});
      expect([answer.status, answer.body.state]).toEqual([200, 'pending']);
      const other = await given().submit({ retry: { kind: 'fixed', baseSeconds: 60 } });
      await applyOne(given().store, aFailure(await given().claim(other.id)));
      expect((await given().http.post(`/jobs/${other.id}/retry`)).body).toMatchObject({
        state: 'pending',
        failures: 1,
      });
    });

    it('409: a pending, running or succeeded job, with a hint', async () => {
      const { id } = await given().submit();
      const hintOf = async (): Promise<unknown[]> => {
        const { status, body } = await given().http.post(`/jobs/${id}/retry`);
        return [status, body.code, body.state, typeof body.hint];
      };
      expect(await hintOf()).toEqual([409, 'job-not-retryable', 'pending', 'string']);
      const other = await given().submit();
      await given().claim(other.id);
      expect((await given().http.post(`/jobs/${other.id}/retry`)).body).toMatchObject({
        status: 409,
        state: 'running',
      });
      await given().succeed(id);
      expect(await hintOf()).toEqual([409, 'job-not-retryable', 'succeeded', 'string']);
    });

    it('404: no such job', async () => {
      expect((await given().http.post(`/jobs/${randomUUID()}/retry`)).body.code).toBe('job-not-found');
      expect((await given().http.post('/jobs/x/retry')).body.code).toBe('job-not-found');
    });
  });

  describe('GET /jobs/{id}/attempts', () => {
    it('lists every attempt with its error, the running one last, in pages', async () => {
      const { id } = await given().submit({ retry: { kind: 'fixed', baseSeconds: 0 } });
      const causes = [{ name: 'Cause', message: 'deep' }];
      await applyOne(given().store, aFailure(await given().claim(id), { code: 'x', stack: 'at…', causes }));
      await given().store.promoteDue({ limit: 10, ids: [id] });
      await given().claim(id);
      const first = await given().http.get(`/jobs/${id}/attempts`).query({ limit: 1 });
      expect(first.body.items[0]).toMatchObject({
        attempt: 1,
        outcome: 'failed',
        error: { name: 'Error', code: 'x', stack: 'at…', causes, issues: [] },
        reclaimedBy: null,
      });
      const second = await given().http.get(`/jobs/${id}/attempts`).query({ limit: 1, cursor: first.body.nextCursor });
      expect(second.body.items[0]).toMatchObject({ attempt: 2, outcome: 'running', finishedAt: null, error: null });
      expect(second.body.nextCursor).toBeNull();
    });

    it('is empty before the first claim, and 404 without a job', async () => {
      const { id } = await given().submit();
      expect((await given().http.get(`/jobs/${id}/attempts`)).body).toEqual({ items: [], nextCursor: null, limit: 50 });
      expect((await given().http.get(`/jobs/${randomUUID()}/attempts`)).status).toBe(404);
      expect((await given().http.get('/jobs/x/attempts')).status).toBe(404);
    });

    it('refuses a cursor of another job', async () => {
      const { id } = await given().submit();
      const other = await given().submit({ retry: { kind: 'fixed', baseSeconds: 0 } });
      await applyOne(given().store, aFailure(await given().claim(other.id)));
      await given().store.promoteDue({ limit: 10, ids: [other.id] });
      await given().claim(other.id);
      const { body } = await given().http.get(`/jobs/${other.id}/attempts`).query({ limit: 1 });
      const answer = await given().http.get(`/jobs/${id}/attempts`).query({ cursor: body.nextCursor });
      expect([answer.status, ...errorsOf(answer)]).toEqual([400, 'foreign-cursor cursor']);
    });
  });

  describe('dead letters', () => {
    it('a death is a letter, and its redrive is the retry of the job', async () => {
      const { id } = await given().submit();
      const letterId = await given().kill(id);
      const letter = await given().http.get(`/dead-letters/${letterId}`);
      expect(letter.body).toMatchObject({
        id: letterId,
        jobId: id,
        attempt: 1,
        reason: 'non-retryable',
        error: { code: 'card-refused' },
        superseded: false,
      });
      const redriven = await given().http.post(`/dead-letters/${letterId}/redrive`);
      expect([redriven.status, redriven.body.state, redriven.body.id]).toEqual([200, 'pending', id]);
    });

    it('409: a letter of a death that the job has left', async () => {
      const { id } = await given().submit();
      const letterId = await given().kill(id);
      await given().http.post(`/jobs/${id}/retry`).expect(200);
      const answer = await given().http.post(`/dead-letters/${letterId}/redrive`);
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ code: 'dead-letter-superseded', jobId: id, attempt: 1 });
    });

    it('lists letters by type, queue and reason, in pages bound to their filters', async () => {
      for (let made = 0; made < 3; made += 1) await given().kill((await given().submit({ queue: 'mail' })).id);
      const query = { queue: 'mail', reason: 'non-retryable', limit: 2 };
      const first = await given().http.get('/dead-letters').query(query);
      expect(first.body.items).toHaveLength(2);
      const second = await given()
        .http.get('/dead-letters')
        .query({ ...query, cursor: first.body.nextCursor });
      const ids = [...first.body.items, ...second.body.items].map((letter: { id: string }) => letter.id);
      expect(new Set(ids).size).toBe(ids.length);
      const foreign = await given()
        .http.get('/dead-letters')
        .query({ queue: 'default', cursor: first.body.nextCursor });
      expect(errorsOf(foreign)).toEqual(['foreign-cursor cursor']);
      expect((await given().http.get('/dead-letters').query({ type: 'no.such' })).body.items).toEqual([]);
    });

    it('404: no such letter', async () => {
      for (const id of [randomUUID(), 'x']) {
        expect((await given().http.get(`/dead-letters/${id}`)).body.code).toBe('dead-letter-not-found');
        expect((await given().http.post(`/dead-letters/${id}/redrive`)).body.code).toBe('dead-letter-not-found');
      }
    });
  });

  describe('queues', () => {
    it('lists the declared queues with their counts', async () => {
      const before = await given().http.get('/queues/mail');
      await given().submit({ queue: 'mail' });
      const after = await given().http.get('/queues/mail');
      expect(after.body.counts.pending).toBe(before.body.counts.pending + 1);
      expect(after.body).toMatchObject({ name: 'mail', atLeast: [] });
      expect(after.body.oldestPendingAgeSeconds).toBeGreaterThanOrEqual(0);
      const list = await given().http.get('/queues');
      expect(list.body.items.map(({ name }: { name: string }) => name)).toEqual(['default', 'mail']);
      expect(list.body).toMatchObject({ nextCursor: null, limit: 2 });
    });

    it.each(['nope', '%00', '__proto__'])('404: the queue %s is not declared', async (name) => {
      expect((await given().http.get(`/queues/${name}`)).body.code).toBe('queue-not-found');
    });
  });

  describe('jobs that others made', () => {
    it('a job without a queue that is still declared is shown', async () => {
      const submission = aSubmission({ queue: 'gone' });
      await given().store.submit([submission]);
      expect((await given().http.get(`/jobs/${submission.job.id}`)).body.queue).toBe('gone');
    });
  });
}
