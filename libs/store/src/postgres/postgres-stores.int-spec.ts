import { afterAll, beforeAll } from '@jest/globals';
import { createTestDatabase } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import type { StoreUnderTest } from '../contract/store-under-test.contract.js';
import { effectStoreContract, jobStoreContract } from '../job-store.contract.js';
import { storeNoticesContract } from '../store-notices.contract.js';
import { workerRegistryContract } from '../worker-registry.contract.js';
import { PostgresEffectStore } from './postgres-effect-store.js';
import { openPostgres } from './postgres-database.js';
import type { PostgresDatabase } from './postgres-database.js';
import { PostgresJobStore } from './postgres-job-store.js';
import { PostgresStoreNotices } from './postgres-store-notices.js';
import { PostgresWorkerRegistry } from './postgres-worker-registry.js';
import { TransactionPool } from './transaction-pool.js';
import { MIGRATED, TestSession } from './test-session.contract.js';

let database: TestDatabase;
let db: PostgresDatabase;
let session: TestSession;
let transactions: TransactionPool;

beforeAll(async () => {
  database = await createTestDatabase({ template: MIGRATED });
  db = await openPostgres({ url: database.url });
  session = await TestSession.open(database.url);
  transactions = new TransactionPool({ url: database.url, idleInTransactionMs: 5_000 });
  await session.client.query('CREATE TABLE ledger (place serial, what text)');
});

afterAll(async () => {
  await transactions.close();
  await db.close();
  await session.close();
  await database.drop();
});

async function open(): Promise<StoreUnderTest> {
  await session.reset();
  await session.client.query('TRUNCATE ledger RESTART IDENTITY');
  return {
    store: new PostgresJobStore(db),
    workers: new PostgresWorkerRegistry(db),
    notices: new PostgresStoreNotices({ url: database.url }),
    now: () => session.now(),
    elapse: (ms) => session.elapse(ms),
    recordEffect: (jobId, key) => session.recordEffect(jobId, key),
    effects: new PostgresEffectStore(db, transactions),
    fire: async (transaction, what) => void (await transaction.query('INSERT INTO ledger (what) VALUES ($1)', [what])),
    fired: async () =>
      (await session.client.query<{ what: string }>('SELECT what FROM ledger ORDER BY place')).rows.map(
        ({ what }) => what,
      ),
    close: async () => {},
  };
}

jobStoreContract('PostgresJobStore', open);
effectStoreContract('PostgresEffectStore', open);
workerRegistryContract('PostgresWorkerRegistry', open);
storeNoticesContract('PostgresStoreNotices', open);
