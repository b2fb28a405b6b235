import { afterAll, beforeAll } from '@jest/globals';
import { createTestDatabase } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { modelContract } from '../contract/model.contract.js';
import type { StoreUnderTest } from '../contract/store-under-test.contract.js';
import { PostgresEffectStore } from './postgres-effect-store.js';
import { openPostgres } from './postgres-database.js';
import type { PostgresDatabase } from './postgres-database.js';
import { PostgresJobStore } from './postgres-job-store.js';
import { PostgresStoreNotices } from './postgres-store-notices.js';
import { PostgresWorkerRegistry } from './postgres-worker-registry.js';
import { MIGRATED, TestSession } from './test-session.contract.js';
import { TransactionPool } from './transaction-pool.js';

let database: TestDatabase;
let db: PostgresDatabase;
let session: TestSession;
let transactions: TransactionPool;

beforeAll(async () => {
  database = await createTestDatabase({ template: MIGRATED });
  db = await openPostgres({ url: database.url });
  session = await TestSession.open(database.url);
  transactions = new TransactionPool({ url: database.url, idleInTransactionMs: 5_000 });
});

afterAll(async () => {
  await transactions.close();
  await db.close();
  await session.close();
  await database.drop();
});

async function open(): Promise<StoreUnderTest> {
  await session.reset();
  return {
    store: new PostgresJobStore(db),
    workers: new PostgresWorkerRegistry(db),
    notices: new PostgresStoreNotices({ url: database.url }),
    effects: new PostgresEffectStore(db, transactions),
    now: () => session.now(),
    elapse: (ms) => session.elapse(ms),
    recordEffect: (jobId, key) => session.recordEffect(jobId, key),
    fire: async () => {},
    fired: async () => [],
    close: async () => {},
  };
}

modelContract('PostgresJobStore', open, { runs: 200, withinMs: 600_000 });
