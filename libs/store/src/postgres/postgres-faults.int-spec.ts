import { isDeadmanError } from '@deadman/domain';
import type { StoreNotice } from '@deadman/domain';
import {
  aCancel,
  aLapse,
  aSubmission,
  aSubmissionDueIn,
  aSuccess,
  createTestDatabase,
  eventually,
  FaultProxy,
} from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import {
  aTicketClaim,
  anIdleClaim,
  applyOne,
  failureOf,
  jobNow,
  runningJob,
  submitMany,
  submitOne,
} from '../contract/store-under-test.contract.js';
import { openPostgres } from './postgres-database.js';
import type { PostgresDatabase, PostgresOptions } from './postgres-database.js';
import { PostgresJobStore } from './postgres-job-store.js';
import { PostgresStoreNotices } from './postgres-store-notices.js';
import { statement } from './statement.js';
import { MIGRATED, TestSession } from './test-session.contract.js';

let database: TestDatabase;
let session: TestSession;
let proxy: FaultProxy;
const opened: PostgresDatabase[] = [];

beforeAll(async () => {
  database = await createTestDatabase({ template: MIGRATED });
  session = await TestSession.open(database.url);
});

afterAll(async () => {
  await session.close();
  await database.drop();
});

beforeEach(async () => {
  await session.reset();
  proxy = await FaultProxy.start(database.url);
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((db) => db.close()));
  await proxy.close();
});

async function openStore(
  options: Partial<PostgresOptions> = {},
): Promise<{ db: PostgresDatabase; store: PostgresJobStore }> {
  const db = await openPostgres({ url: database.url, ...options });
  opened.push(db);
  return { db, store: new PostgresJobStore(db) };
}

/** Runs `act` while another session is inside a transaction that began with `sql`. */
async function beside<Result>(
  sql: string,
  values: readonly unknown[],
  act: (other: Client) => Promise<Result>,
): Promise<Result> {
  const other = new Client({ connectionString: database.url });
  other.on('error', () => undefined);
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query(sql, [...values]);
    return await act(other);
  } finally {
    await other.end();
  }
}

/** Resolves once a session of the store waits for a lock. */
async function untilSomeoneWaits(): Promise<void> {
  await eventually(async () => {
    const { rows } = await session.client.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    expect(rows).not.toHaveLength(0);
  });
}

const LOCK_JOB = 'SELECT id FROM deadman.jobs WHERE id = $1 FOR UPDATE';
const HOLD_KEY = `INSERT INTO deadman.idempotency_keys (key, job_id, in_use_at, fingerprint) VALUES ($1, $2, deadman.clock(), '{}')`;

describe('a reply that was lost', () => {
  it('makes the outcome of a write unknown, and the job is there once, also when it is submitted again', async () => {
    const { store } = await openStore({ url: proxy.url, poolSize: 1 });
    await store.ping();
    const batch = [aSubmission({ idempotencyKey: 'k' }), aSubmission()];
    void proxy.cutOneReply();
    expect(await failureOf(store.submit(batch))).toBe('unknown-outcome');
    await eventually(async () => expect(await store.findJobs(batch.map(({ job }) => job.id))).toHaveLength(2));
    const { results, outbox } = await store.submit(batch);
    expect(results.map(({ kind }) => kind)).toEqual(['created', 'created']);
    expect(outbox).toEqual([]);
  });

  it('of a claim can be cleared up by its token', async () => {
    const { store } = await openStore({ url: proxy.url, poolSize: 1 });
    const ids = (await submitMany(store, 3)).map(({ id }) => id);
    const request = aTicketClaim(ids);
    void proxy.cutOneReply();
    expect(await failureOf(store.claim(request))).toBe('unknown-outcome');
    await eventually(async () => expect(await store.findClaimed(request.token)).toHaveLength(3));
  });

  it('of a settle is told as `already` when it is tried again', async () => {
    const { store } = await openStore({ url: proxy.url, poolSize: 1 });
    const job = await runningJob(store);
    void proxy.cutOneReply();
    expect(await failureOf(applyOne(store, aSuccess(job)))).toBe('unknown-outcome');
    await eventually(async () => expect((await jobNow(store, job.id)).state).toBe('SUCCEEDED'));
    expect(await applyOne(store, aSuccess(job))).toEqual({ kind: 'already' });
  });

  it('of a settle is told as `already` also while the first try has not ended yet', async () => {
    const { store } = await openStore({ poolSize: 3 });
    const job = await runningJob(store);
    const results = await beside(LOCK_JOB, [job.id], async (other) => {
      const tries = [applyOne(store, aSuccess(job)), applyOne(store, aSuccess(job))];
      await untilSomeoneWaits();
      await other.query('COMMIT');
      return Promise.all(tries);
    });
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['already', 'applied']);
  });

  it('of a read has changed nothing', async () => {
    const { store } = await openStore({ url: proxy.url, poolSize: 1 });
    await store.ping();
    void proxy.cutOneReply();
    expect(await failureOf(store.countJobs({}, 10))).toBe('store-unavailable');
  });

  it('inside a transaction has changed nothing, and at its COMMIT may have', async () => {
    const { db, store } = await openStore({ url: proxy.url, poolSize: 1 });
    const job = await submitOne(store);
    const lock = statement('lock-free-jobs');
    const inside = db.transaction(async (run) => {
      void proxy.cutOneReply();
      return run(lock, [`{${job.id}}`]);
    });
    expect(await failureOf(inside)).toBe('store-unavailable');
    const atCommit = db.transaction(async (run) => {
      await run(lock, [`{${job.id}}`]);
      void proxy.cutOneReply();
    });
    expect(await failureOf(atCommit)).toBe('unknown-outcome');
  });
});

describe('a database that cannot be reached', () => {
  it('is told at once when nobody listens', async () => {
    const error = await openPostgres({ url: 'postgres://nobody@127.0.0.1:1/none' }).catch((caught: unknown) => caught);
    expect(isDeadmanError(error, 'store-unavailable')).toBe(true);
  });

  it('is told while its connections are cut, and is used again once it is back', async () => {
    const { store } = await openStore({ url: proxy.url });
    await store.ping();
    await proxy.inject({ kind: 'reset' }, { connections: 'existing' });
    await eventually(() => store.ping());
    expect((await store.submit([aSubmission()])).results).toHaveLength(1);
  });

  it('does not end the process when it ends idle sessions', async () => {
    const broken: Error[] = [];
    const { store } = await openStore({ applicationName: 'idle', onIdleError: (error) => broken.push(error) });
    await Promise.all([store.ping(), store.ping(), store.ping()]);
    await session.client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idle'`,
    );
    await eventually(() => expect(broken.length).toBeGreaterThan(0));
    await eventually(() => store.ping());
  });

  it('may have written what was under way when its session was ended', async () => {
    const { store } = await openStore({ applicationName: 'busy' });
    const job = await submitOne(store);
    const failure = await beside(LOCK_JOB, [job.id], async () => {
      const claiming = failureOf(store.claim(aTicketClaim([job.id])));
      await untilSomeoneWaits();
      await session.client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'busy'`,
      );
      return claiming;
    });
    expect(failure).toBe('unknown-outcome');
    expect((await jobNow(store, job.id)).state).toBe('PENDING');
  });

  it('does not answer at all: the wait is bounded, and its connection is not used again', async () => {
    const { db, store } = await openStore({ url: proxy.url, poolSize: 1, statementTimeoutMs: 1_000 });
    await store.ping();
    await proxy.inject({ kind: 'drop' }, { direction: 'toClient' });
    expect(await failureOf(store.submit([aSubmission()]))).toBe('unknown-outcome');
    expect(db.connections().total).toBe(0);
    await proxy.heal();
    await eventually(async () => expect(await store.countJobs({}, 10)).toBe(1));
  });

  it('has no connection free in time, which changes nothing', async () => {
    const { store } = await openStore({ poolSize: 1, connectTimeoutMs: 1_000, statementTimeoutMs: 60_000 });
    const job = await submitOne(store);
    await beside(LOCK_JOB, [job.id], async (other) => {
      const claiming = store.claim(aTicketClaim([job.id]));
      await untilSomeoneWaits();
      expect(await failureOf(store.ping())).toBe('store-unavailable');
      await other.query('COMMIT');
      expect(await claiming).toHaveLength(1);
    });
  });
});

describe('a statement that takes too long', () => {
  it('is broken off with nothing changed, and its connection is used again', async () => {
    const { db, store } = await openStore({ poolSize: 1, statementTimeoutMs: 1_000 });
    const jobs = await submitMany(store, 2);
    await beside(LOCK_JOB, [jobs[0]!.id], async () => {
      expect(await failureOf(store.claim(aTicketClaim(jobs.map(({ id }) => id))))).toBe('statement-timeout');
    });
    for (const { id } of jobs) expect((await jobNow(store, id)).state).toBe('PENDING');
    expect(db.connections()).toEqual({ total: 1, idle: 1, waiting: 0 });
  });
});

describe('an idempotency key in the hands of another transaction', () => {
  it('goes to whoever waited when that rolls back', async () => {
    const { store } = await openStore();
    const kinds = await beside(HOLD_KEY, ['k', '018f0000-0000-7000-8000-000000000001'], async (other) => {
      const waiting = store.submit([aSubmission({ idempotencyKey: 'k' })]);
      await untilSomeoneWaits();
      await other.query('ROLLBACK');
      return (await waiting).results.map(({ kind }) => kind);
    });
    expect(kinds).toEqual(['created']);
  });

  it('is answered with the other job when that commits', async () => {
    const { store } = await openStore();
    const first = await submitOne(store);
    const results = await beside(HOLD_KEY, ['k', first.id], async (other) => {
      const waiting = store.submit([aSubmission({ idempotencyKey: 'k' }), aSubmission()]);
      await untilSomeoneWaits();
      await other.query('COMMIT');
      return (await waiting).results;
    });
    expect(results.map(({ kind }) => kind)).toEqual(['replayed', 'created']);
    expect(results[0]!.job.id).toBe(first.id);
  });
});

describe('a row that another transaction holds', () => {
  it('is waited for by a claim with a ticket, which takes it as it is then', async () => {
    const { store } = await openStore();
    const job = await submitOne(store);
    const claimed = await beside(LOCK_JOB, [job.id], async (other) => {
      const waiting = store.claim(aTicketClaim([job.id]));
      await untilSomeoneWaits();
      await other.query('UPDATE deadman.jobs SET version = version + 1 WHERE id = $1', [job.id]);
      await other.query('COMMIT');
      return waiting;
    });
    expect(claimed.map(({ version }) => version)).toEqual([job.version + 2]);
  });

  it('is waited for by a settle, which heeds the cancel request that came meanwhile', async () => {
    const { store } = await openStore();
    const job = await runningJob(store);
    const result = await beside(LOCK_JOB, [job.id], async (other) => {
      const waiting = applyOne(store, aLapse(job));
      await untilSomeoneWaits();
      await other.query(
        'UPDATE deadman.jobs SET cancel_requested_at = deadman.clock(), version = version + 1 WHERE id = $1',
        [job.id],
      );
      await other.query('COMMIT');
      return waiting;
    });
    expect(result).toEqual({ kind: 'applied', state: 'CANCELLED', by: 'cancel-request' });
  });

  it('is passed over by scans: idle claim, promotion and a reaper’s lapse', async () => {
    const { store } = await openStore();
    const [held, free] = await submitMany(store, 2);
    const [heldRun, freeRun] = [await runningJob(store), await runningJob(store)];
    const { results } = await store.submit([aSubmissionDueIn(1), aSubmissionDueIn(1)]);
    const [heldDue, freeDue] = results.map(({ job }) => job.id);
    await session.elapse(1_000);
    const locked = [held!.id, heldRun.id, heldDue];
    await beside('SELECT id FROM deadman.jobs WHERE id = ANY ($1) FOR UPDATE', [locked], async () => {
      expect((await store.claimIdle(anIdleClaim())).map(({ id }) => id)).toEqual([free!.id]);
      const lapses = await store.apply([aLapse(heldRun), aLapse(freeRun)], { skipLocked: true });
      expect(lapses.results.map(({ kind }) => kind)).toEqual(['fenced', 'applied']);
      expect((await store.promoteDue({ limit: 10 })).outbox).toMatchObject([{ jobIds: [freeDue] }]);
      expect((await store.promoteDue({ limit: 10, ids: [heldDue!] })).promoted).toBe(0);
    });
    expect((await jobNow(store, heldRun.id)).state).toBe('RUNNING');
  });
});

describe('locks', () => {
  /**
   * Runs `act` over `jobs` in falling order while another session holds the lowest. Once it waits for that one, the other
   * session takes the rest: if `act` held any of them already, the two would wait for each other, and one would fail.
   */
  async function expectRisingLocks(
    jobs: readonly { id: string }[],
    act: (falling: string[]) => Promise<unknown>,
  ): Promise<void> {
    const ids = jobs.map(({ id }) => id).toSorted();
    await beside(LOCK_JOB, [ids[0]], async (other) => {
      const acting = act(ids.toReversed());
      await untilSomeoneWaits();
      await other.query('SELECT id FROM deadman.jobs WHERE id = ANY ($1) ORDER BY id FOR UPDATE', [ids]);
      await other.query('ROLLBACK');
      await acting;
    });
  }

  it('of a claim are taken in the order of ids', async () => {
    const { store } = await openStore();
    await expectRisingLocks(await submitMany(store, 20), async (ids) => {
      expect(await store.claim(aTicketClaim(ids))).toHaveLength(20);
    });
  });

  it('of decisions are taken in the order of ids', async () => {
    const { store } = await openStore();
    const jobs = await store.claim(aTicketClaim((await submitMany(store, 20)).map(({ id }) => id)));
    const byId = new Map(jobs.map((job) => [job.id, job]));
    await expectRisingLocks(jobs, async (ids) => {
      const { results } = await store.apply(ids.map((id) => aSuccess(byId.get(id)!)));
      expect(results.every(({ kind }) => kind === 'applied')).toBe(true);
    });
  });

  it('of progress are taken in the order of ids', async () => {
    const { store } = await openStore();
    const jobs = await store.claim(aTicketClaim((await submitMany(store, 20)).map(({ id }) => id)));
    const tokens = new Map(jobs.map((job) => [job.id, job.claim.token]));
    await expectRisingLocks(jobs, async (ids) => {
      await store.saveProgress(ids.map((jobId) => ({ jobId, attempt: 1, token: tokens.get(jobId)!, value: '1' })));
      expect((await jobNow(store, ids[0]!)).progress?.value).toBe('1');
    });
  });

  it('of idempotency keys are taken in the order of keys', async () => {
    const { store } = await openStore();
    const holder = '018f0000-0000-7000-8000-000000000001';
    await beside(HOLD_KEY, ['a', holder], async (other) => {
      const submitting = store.submit(['d', 'c', 'b', 'a'].map((idempotencyKey) => aSubmission({ idempotencyKey })));
      await untilSomeoneWaits();
      for (const key of ['b', 'c', 'd']) await other.query(HOLD_KEY, [key, holder]);
      await other.query('ROLLBACK');
      expect((await submitting).results.map(({ kind }) => kind)).toEqual(['created', 'created', 'created', 'created']);
    });
  });

  it('of outbox rows are taken in the order of ids', async () => {
    const { store } = await openStore();
    const ids: string[] = [];
    for (let row = 0; row < 5; row += 1) ids.push(...(await store.submit([aSubmission()])).outbox.map(({ id }) => id));
    ids.sort();
    await beside('SELECT id FROM deadman.outbox WHERE id = $1 FOR UPDATE', [ids[0]], async (other) => {
      const deleting = store.deleteOutbox(ids.toReversed());
      await untilSomeoneWaits();
      await other.query('SELECT id FROM deadman.outbox WHERE id = ANY ($1) ORDER BY id FOR UPDATE', [ids]);
      await other.query('ROLLBACK');
      await deleting;
    });
    expect(await store.outboxAgeMs()).toBe(0);
  });
});

describe('many batches over the same jobs in any order', () => {
  it('never deadlock', async () => {
    const { store } = await openStore({ poolSize: 8, statementTimeoutMs: 30_000 });
    const jobs = await store.claim(aTicketClaim((await submitMany(store, 100)).map(({ id }) => id)));
    const rounds = Array.from({ length: 80 }, (_, round) => {
      const ordered = round % 2 ? jobs : jobs.toReversed();
      if (round % 4 < 2) return store.apply(ordered.map((job) => aSuccess(job)));
      const progress = ordered.map(({ id, attempt, claim }) => ({
        jobId: id,
        attempt,
        token: claim.token,
        value: '1',
      }));
      return round % 4 === 2 ? store.saveProgress(progress) : store.claim(aTicketClaim(ordered.map(({ id }) => id)));
    });
    const outcomes = await Promise.allSettled(rounds);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
  });
});

describe('notices', () => {
  it('come again after the connection that listens was lost', async () => {
    const { store } = await openStore();
    const lost: unknown[] = [];
    const notices = new PostgresStoreNotices({
      url: proxy.url,
      reconnectMs: 10,
      onError: (error) => lost.push(error),
    });
    const heard: StoreNotice[] = [];
    const { unsubscribe } = await notices.subscribe((notice) => heard.push(notice));
    await proxy.inject({ kind: 'reset' }, { connections: 'existing' });
    await eventually(() => expect(lost.length).toBeGreaterThan(0));
    await eventually(async () => {
      await store.submit([aSubmissionDueIn(1)]);
      expect(heard).toContainEqual({ kind: 'due' });
    });
    const job = await runningJob(store);
    await applyOne(store, aCancel(job));
    const claims = [{ jobId: job.id, token: job.claim.token }];
    await eventually(() => expect(heard).toContainEqual({ kind: 'cancel', claims }));
    await unsubscribe();
  });

  it('can be left while the database is away', async () => {
    const { url } = proxy;
    await proxy.close();
    const lost: unknown[] = [];
    const notices = new PostgresStoreNotices({ url, reconnectMs: 60_000, onError: (error) => lost.push(error) });
    const { unsubscribe } = await notices.subscribe(() => undefined);
    expect(lost).toHaveLength(1);
    await unsubscribe();
  });
});
