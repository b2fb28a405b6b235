import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '@deadman/config';
import { migrate, openPostgres, PostgresJobStore, PostgresWorkerRegistry, readMigrations } from '@deadman/store';
import type { PostgresDatabase } from '@deadman/store';
import { createTestDatabase, deferred, FaultProxy } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { batchContract } from './jobs/batch.contract.js';
import { idempotencyContract } from './jobs/idempotency.contract.js';
import { jobsApiContract } from './jobs/jobs-api.contract.js';
import { listsContract } from './jobs/lists.contract.js';
import { postText, startApi } from './testing/api-under-test.contract.js';
import type { ApiUnderTest } from './testing/api-under-test.contract.js';

/** Longest statement, short so that a slow one is told soon, and long enough for every other. */
const STATEMENT_TIMEOUT_MS = 2_000;

let database: TestDatabase;
let proxy: FaultProxy;
let db: PostgresDatabase;
let api: ApiUnderTest;
let otherDb: PostgresDatabase;
let otherApi: ApiUnderTest;

beforeAll(async () => {
  const template = { key: JSON.stringify(readMigrations()), migrate: async (url: string) => void (await migrate(url)) };
  database = await createTestDatabase({ template });
  proxy = await FaultProxy.start(database.url);
  db = await open(proxy.url);
  otherDb = await open(database.url);
  api = await startOn(db);
  otherApi = await startOn(otherDb);
});

afterAll(async () => {
  await Promise.all([api.close(), otherApi.close()]);
  await Promise.all([db.close(), otherDb.close()]);
  await proxy.close();
  await database.drop();
});

function open(url: string): Promise<PostgresDatabase> {
  return openPostgres({ url, statementTimeoutMs: STATEMENT_TIMEOUT_MS, connectTimeoutMs: STATEMENT_TIMEOUT_MS });
}

function startOn(on: PostgresDatabase): Promise<ApiUnderTest> {
  return startApi({
    store: new PostgresJobStore(on),
    registry: new PostgresWorkerRegistry(on),
    clock: new SystemClock(),
  });
}

jobsApiContract(() => api);
idempotencyContract(() => api);
batchContract(() => api);
listsContract(() => api);

describe('two apis on one database', () => {
  const post = (on: ApiUnderTest, key: string): Promise<Response> =>
    postText(on, '/jobs', JSON.stringify({ type: 'demo.echo', tags: [key] }), { 'idempotency-key': key });

  it('a hundred posts of one key at once make one job', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => post(at % 2 === 0 ? api : otherApi, key)));
    const statuses = answers.map(({ status }) => status).toSorted((left, right) => left - right);
    expect(statuses).toEqual([...Array.from({ length: 99 }, () => 200), 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect((await api.http.get('/jobs').query({ tag: key, count: 'exact' })).body.count).toBe(1);
  });

  it('when the first transaction rolls back while another waits, the waiter makes the job', async () => {
    const key = randomUUID();
    const isHeld = deferred<void>();
    const letGo = deferred<void>();
    const first = db.transaction(async (run) => {
      await run(
        {
          name: 'hold_key',
          text: `INSERT INTO deadman.idempotency_keys (key, job_id, in_use_at, fingerprint) VALUES ($1, $2, deadman.clock(), '{}')`,
        },
        [key, randomUUID()],
      );
      isHeld.resolve();
      await letGo.promise;
      throw new Error('The first transaction rolls back');
    });
    await isHeld.promise;
    const waiter = post(otherApi, key);
    await untilSomebodyWaits();
    letGo.resolve();
    await expect(first).rejects.toThrow('The first transaction rolls back');
    const answer = await waiter;
    expect([answer.status, answer.headers['idempotent-replayed']]).toEqual([201, 'false']);
  });

  it('keys taken in opposite orders do not lock each other out', async () => {
    const keys = [randomUUID(), randomUUID()];
    const batch = (order: readonly string[]): string =>
      JSON.stringify({ jobs: order.map((idempotencyKey) => ({ type: 'demo.echo', idempotencyKey })) });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        postText(at % 2 === 0 ? api : otherApi, '/jobs/batch', batch(at % 3 === 0 ? keys : keys.toReversed())),
      ),
    );
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 201)).toEqual([]);
    const ids = answers.flatMap(({ body }) => body.items.map(({ job }: { job: { id: string } }) => job.id));
    expect(new Set(ids).size).toBe(2);
  });

  it('a commit whose reply the database lost is told as what it was, and its client may repeat', async () => {
    const key = randomUUID();
    const lost = proxy.cutOneReply({ request: (sent) => sent.includes(key) });
    const first = await post(api, key);
    await lost;
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([201, 'false']);
    const again = await post(otherApi, key);
    expect([again.status, again.body.id]).toEqual([200, first.body.id]);
    expect((await otherApi.http.get('/jobs').query({ tag: key, count: 'exact' })).body.count).toBe(1);
  });
});

describe('a database in trouble', () => {
  it('down: 503 with Retry-After on every endpoint, and all is well once it is back', async () => {
    const { id } = await api.submit();
    await proxy.inject({ kind: 'refuse' });
    const ask = [
      () => postText(api, '/jobs', '{"type":"demo.echo"}'),
      () => postText(api, '/jobs/batch', '{"jobs":[{"type":"demo.echo"}]}'),
      () => api.http.get('/jobs'),
      () => api.http.get(`/jobs/${id}`),
      () => api.http.get('/queues'),
      () => api.http.delete(`/jobs/${id}`),
      () => api.http.post(`/jobs/${id}/retry`),
    ];
    for (const request of ask) {
      const answer = await request();
      expect([answer.status, answer.body.retryable]).toEqual([503, true]);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    await proxy.heal();
    for (const request of ask) expect((await request()).status).not.toBe(503);
  });

  it('slow: a list that takes too long is 503 query-too-slow', async () => {
    const isLocked = deferred<void>();
    const letGo = deferred<void>();
    const patient = await openPostgres({ url: database.url, poolSize: 1, statementTimeoutMs: 60_000 });
    const blocker = patient.transaction(async (run) => {
      await run({ name: 'lock_jobs', text: 'LOCK TABLE deadman.jobs IN ACCESS EXCLUSIVE MODE' }, []);
      isLocked.resolve();
      await letGo.promise;
    });
    await isLocked.promise;
    const answer = await api.http.get('/jobs');
    expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([503, 'query-too-slow', '5']);
    letGo.resolve();
    await blocker;
    await patient.close();
    expect((await api.http.get('/jobs')).status).toBe(200);
  });
});

async function untilSomebodyWaits(): Promise<void> {
  const text = `SELECT count(*)::int AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  for (;;) {
    const [row] = await db.read<{ waiting: number }>({ name: 'count_waiting', text });
    if ((row?.waiting ?? 0) > 0) return;
  }
}
