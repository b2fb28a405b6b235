import type { ClaimedJob, EffectReceipt, OpenTransaction } from '@deadman/domain';
import { aLapse, createTestDatabase, deferred, eventually, FaultProxy } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { claimOne, failureOf, jobNow, runningJob } from '../contract/store-under-test.contract.js';
import { PostgresEffectStore } from './postgres-effect-store.js';
import { openPostgres } from './postgres-database.js';
import type { PostgresDatabase } from './postgres-database.js';
import { PostgresJobStore } from './postgres-job-store.js';
import { MIGRATED, TestSession } from './test-session.contract.js';
import { TransactionPool } from './transaction-pool.js';
import type { TransactionPoolOptions } from './transaction-pool.js';

/** Two locks that a session of the test holds to stop a transaction: at a statement of its own, and inside its COMMIT. */
const TABLES = `
  CREATE TABLE ledger (what text);
  CREATE TABLE seats (seat integer PRIMARY KEY, taken boolean NOT NULL DEFAULT false);
  CREATE TABLE tickets (seat integer REFERENCES seats DEFERRABLE INITIALLY DEFERRED);
  CREATE TABLE slow_commits (lock bigint);
  CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_advisory_xact_lock(NEW.lock); RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER waits_at_commit AFTER INSERT ON slow_commits DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION wait_at_commit();
  INSERT INTO seats (seat) VALUES (1), (2);
`;

const FIRE = `INSERT INTO ledger VALUES ('fired')`;

describe('effects on PostgreSQL', () => {
  let database: TestDatabase;
  let session: TestSession;
  let db: PostgresDatabase;
  let store: PostgresJobStore;
  let proxy: FaultProxy;
  let job: ClaimedJob;
  const pools: TransactionPool[] = [];

  beforeAll(async () => {
    database = await createTestDatabase({ template: MIGRATED });
    session = await TestSession.open(database.url);
    await session.client.query(TABLES);
    db = await openPostgres({ url: database.url });
    store = new PostgresJobStore(db);
  });

  afterAll(async () => {
    await db.close();
    await session.close();
    await database.drop();
  });

  beforeEach(async () => {
    await session.reset();
    await session.client.query('TRUNCATE ledger, slow_commits, tickets; UPDATE seats SET taken = false');
    proxy = await FaultProxy.start(database.url);
    job = await runningJob(store);
  });

  /** Every connection has come back or was replaced, whatever went wrong. */
  afterEach(async () => {
    for (const pool of pools.splice(0)) {
      await eventually(() => {
        const { total, idle } = pool.connections();
        expect(total).toBe(idle);
      });
      await pool.close();
    }
    await proxy.close();
  });

  function effectsWith(options: Partial<TransactionPoolOptions> = {}): PostgresEffectStore {
    const pool = new TransactionPool({ url: database.url, idleInTransactionMs: 30_000, ...options });
    pools.push(pool);
    return new PostgresEffectStore(db, pool);
  }

  const commit = (
    effects: PostgresEffectStore,
    change: (transaction: OpenTransaction) => Promise<unknown>,
    { id, attempt, claim } = job,
  ): Promise<EffectReceipt> =>
    effects.commitEffect({ jobId: id, attempt, token: claim.token, key: 'charge' }, async (transaction) => {
      await change(transaction);
      return '1';
    });

  async function fired(): Promise<number> {
    return (await session.client.query('SELECT FROM ledger')).rowCount ?? 0;
  }

  const reap = async (): Promise<string> => (await store.apply([aLapse(job)], { skipLocked: true })).results[0]!.kind;

  async function untilSomeoneWaitsFor(kind: 'advisory' | 'transactionid'): Promise<void> {
    await eventually(async () => {
      const { rowCount } = await session.client.query('SELECT FROM pg_locks WHERE locktype = $1 AND NOT granted', [
        kind,
      ]);
      expect(rowCount).toBeGreaterThan(0);
    });
  }

  describe('a worker that stands still inside its transaction', () => {
    it('holds up no reaper, and changes nothing when it goes on', async () => {
      const [stands, goesOn] = [deferred(), deferred()];
      const frozen = commit(effectsWith(), async (transaction) => {
        await transaction.query(FIRE);
        stands.resolve();
        await goesOn.promise;
      });
      await stands.promise;
      expect(await reap()).toBe('applied');
      const again = await claimOne(store, job.id);
      expect(await commit(effectsWith(), (transaction) => transaction.query(FIRE), again)).toMatchObject({
        kind: 'committed',
      });
      goesOn.resolve();
      expect(await frozen).toEqual({ kind: 'exists' });
      expect(await fired()).toBe(1);
    });

    it('has its transaction broken off, and keeps nothing that it had locked', async () => {
      const [stands, goesOn] = [deferred(), deferred()];
      const frozen = commit(effectsWith({ idleInTransactionMs: 1_000 }), async (transaction) => {
        await transaction.query('UPDATE seats SET taken = true WHERE seat = 1');
        stands.resolve();
        await goesOn.promise;
        await transaction.query(FIRE);
      });
      await stands.promise;
      // Waits for the lock until the server breaks the transaction off.
      await session.client.query('UPDATE seats SET taken = true WHERE seat = 1');
      goesOn.resolve();
      expect(await frozen).toEqual({ kind: 'idle' });
      expect(await fired()).toBe(0);
    });

    it('is told so also when its change ends without another statement', async () => {
      const idle = commit(effectsWith({ idleInTransactionMs: 1_000 }), async (transaction) => {
        await transaction.query('UPDATE seats SET taken = true WHERE seat = 1');
        await session.client.query('UPDATE seats SET taken = true WHERE seat = 1');
      });
      expect(await idle).toEqual({ kind: 'idle' });
    });
  });

  it('is broken off when its worker stops without it', async () => {
    const [stands, goesOn] = [deferred(), deferred()];
    const forgotten = commit(effectsWith(), async (transaction) => {
      await transaction.query(FIRE);
      stands.resolve();
      await goesOn.promise;
    });
    await stands.promise;
    await pools.at(-1)!.close();
    goesOn.resolve();
    expect(await failureOf(forgotten)).toBe('store-unavailable');
    expect(await fired()).toBe(0);
  });

  it('keeps the job from being taken away between the fence and the end of the commit', async () => {
    await session.client.query('SELECT pg_advisory_lock(7)');
    const committing = commit(effectsWith(), async (transaction) => {
      await transaction.query(FIRE);
      await transaction.query('INSERT INTO slow_commits VALUES (7)');
    });
    await untilSomeoneWaitsFor('advisory');
    expect(await reap()).toBe('fenced');
    await session.client.query('SELECT pg_advisory_unlock(7)');
    expect(await committing).toMatchObject({ kind: 'committed' });
    expect([await reap(), await fired()]).toEqual(['applied', 1]);
  });

  it('leaves an effect to whoever is first: the other waits, and undoes what it did', async () => {
    await session.client.query('SELECT pg_advisory_lock(7)');
    const first = commit(effectsWith(), async (transaction) => {
      await transaction.query(FIRE);
      await transaction.query('INSERT INTO slow_commits VALUES (7)');
    });
    await untilSomeoneWaitsFor('advisory');
    const second = commit(effectsWith(), (transaction) => transaction.query(FIRE));
    await untilSomeoneWaitsFor('transactionid');
    await session.client.query('SELECT pg_advisory_unlock(7)');
    expect([await first, await second]).toMatchObject([{ kind: 'committed' }, { kind: 'exists' }]);
    expect(await fired()).toBe(1);
  });

  describe('a connection that is lost', () => {
    const sent = (text: string) => ({ request: (bytes: Buffer) => bytes.includes(text) });

    it.each([
      ['at the begin', 'SET LOCAL deadman.effect', 'store-unavailable', 0],
      ['at a statement of the handler', FIRE, 'store-unavailable', 0],
      ['at the note', 'record-effect', 'store-unavailable', 0],
      ['at the fence', 'hold-claim', 'store-unavailable', 0],
      ['at the commit', '\0commit\0', 'unknown-outcome', 1],
    ])('%s says whether anything can have happened', async (_where, text, code, lines) => {
      const effects = effectsWith({ url: proxy.url, poolSize: 1 });
      const cut = proxy.cutOneReply(sent(text));
      expect(await failureOf(commit(effects, (transaction) => transaction.query(FIRE)))).toBe(code);
      await cut;
      await eventually(async () => expect(await fired()).toBe(lines));
      expect(await effects.findEffect(job.id, 'charge')).toEqual(lines === 0 ? null : { value: '1' });
      expect((await jobNow(store, job.id)).state).toBe('RUNNING');
    });

    it('is told as that whatever the handler makes of it', async () => {
      const effects = effectsWith({ url: proxy.url, poolSize: 1 });
      void proxy.cutOneReply(sent(FIRE));
      const change = async (transaction: OpenTransaction): Promise<void> => {
        await transaction.query(FIRE).catch(() => Promise.reject(new Error('my own words')));
      };
      expect(await failureOf(commit(effects, change))).toBe('store-unavailable');
      void proxy.cutOneReply(sent(FIRE));
      const swallowing = commit(effects, (transaction) => swallow(transaction.query(FIRE)));
      expect(await failureOf(swallowing)).toBe('store-unavailable');
      expect(await fired()).toBe(0);
    });
  });

  describe('what a handler may do with its transaction', () => {
    it('is to meet an error of its own, as the driver throws it', async () => {
      const failing = commit(effectsWith(), (transaction) => transaction.query('INSERT INTO seats (seat) VALUES (1)'));
      await expect(failing).rejects.toMatchObject({ code: '23505', constraint: 'seats_pkey' });
    });

    it('is to go on after it, from a savepoint', async () => {
      const receipt = await commit(effectsWith(), async (transaction) => {
        await transaction.query('SAVEPOINT before');
        await swallow(transaction.query('INSERT INTO seats (seat) VALUES (1)'));
        await transaction.query('ROLLBACK TO SAVEPOINT before');
        await transaction.query(FIRE);
      });
      expect([receipt, await fired()]).toEqual([{ kind: 'committed', outbox: [] }, 1]);
    });

    it('is not to keep the error to itself and have the rest committed', async () => {
      const failing = commit(effectsWith(), async (transaction) => {
        await transaction.query(FIRE);
        await swallow(transaction.query('INSERT INTO seats (seat) VALUES (1)'));
      });
      await expect(failing).rejects.toMatchObject({ code: '23505' });
      expect(await fired()).toBe(0);
    });

    it('is to break a constraint that is checked at the end, and to be told which', async () => {
      const failing = commit(effectsWith(), (transaction) => transaction.query('INSERT INTO tickets VALUES (3)'));
      await expect(failing).rejects.toMatchObject({ code: '23503', constraint: 'tickets_seat_fkey' });
      expect(await effectsWith().findEffect(job.id, 'charge')).toBeNull();
    });

    it.each(['COMMIT', 'ROLLBACK', 'COMMIT; BEGIN'])('is not to end it (%s)', async (text) => {
      const effects = effectsWith();
      const failing = commit(effects, async (transaction) => transaction.query(text));
      await expect(failing).rejects.toThrow('must not end the transaction');
      expect(await effects.findEffect(job.id, 'charge')).toBeNull();
    });

    it('is to pass on what else the driver takes', async () => {
      let rows: unknown[] = [];
      await commit(effectsWith(), async (transaction) => {
        const statement = { text: 'SELECT $1::int AS n', values: [7], rowMode: 'array', name: 'seven' };
        ({ rows } = await transaction.query(statement));
      });
      expect(rows).toEqual([[7]]);
    });

    it('is to meet another one in a deadlock, which is nobody’s fault', async () => {
      const both = [deferred(), deferred()];
      const other = await runningJob(store);
      const lock = (seats: readonly number[], place: number) => async (transaction: OpenTransaction) => {
        await transaction.query('UPDATE seats SET taken = true WHERE seat = $1', [seats[0]]);
        both[place]!.resolve();
        await Promise.all(both.map(({ promise }) => promise));
        await transaction.query('UPDATE seats SET taken = true WHERE seat = $1', [seats[1]]);
      };
      const effects = effectsWith();
      const outcomes = await Promise.all([
        failureOf(commit(effects, lock([1, 2], 0))),
        failureOf(commit(effects, lock([2, 1], 1), other)),
      ]);
      expect(outcomes).toContain('transaction-conflict');
      expect(outcomes).toContainEqual({ kind: 'committed', outbox: [] });
    });

    it.each(['53100', '58030', '25006'])('is to find the server unwell (%s), which is not its fault', async (code) => {
      const text = `DO $$ BEGIN RAISE EXCEPTION 'unwell' USING ERRCODE = '${code}'; END $$`;
      expect(await failureOf(commit(effectsWith(), (transaction) => transaction.query(text)))).toBe(
        'store-unavailable',
      );
    });

    it('is to take no longer than a statement may', async () => {
      const slow = commit(effectsWith({ statementTimeoutMs: 1_000 }), (transaction) =>
        transaction.query('SELECT pg_sleep(60)'),
      );
      await expect(slow).rejects.toMatchObject({ code: '57014' });
    });
  });

  it('waits for a free connection no longer than for a new one, and then nothing has happened', async () => {
    const effects = effectsWith({ poolSize: 1, connectTimeoutMs: 1_000 });
    const ends = deferred();
    const first = commit(effects, () => ends.promise);
    const waiting = await failureOf(commit(effects, (transaction) => transaction.query(FIRE)));
    ends.resolve();
    expect([waiting, await first]).toMatchObject(['store-unavailable', { kind: 'committed' }]);
    expect(await fired()).toBe(0);
  });
});

async function swallow(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}
