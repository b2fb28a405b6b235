import { afterAll, beforeAll } from '@jest/globals';
import { createTestDatabase } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import type { StoreUnderTest } from '../contract/store-under-test.contract.js';
import { jobStoreContract } from '../job-store.contract.js';
import { storeNoticesContract } from '../store-notices.contract.js';
import { workerRegistryContract } from '../worker-registry.contract.js';
import { openPostgres } from './postgres-database.js';
import type { PostgresDatabase } from './postgres-database.js';
import { PostgresJobStore } from './postgres-job-store.js';
import { PostgresStoreNotices } from './postgres-store-notices.js';
import { PostgresWorkerRegistry } from './postgres-worker-registry.js';
import { MIGRATED, TestSession } from './test-session.contract.js';

let database: TestDatabase;
let db: PostgresDatabase;
let session: TestSession;

beforeAll(async () => {
  database = await createTestDatabase({ template: MIGRATED });
  db = await openPostgres({ url: database.url });
  session = await TestSession.open(database.url);
});

afterAll(async () => {
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
    now: () => session.now(),
    elapse: (ms) => session.elapse(ms),
    recordEffect: (jobId, key) => session.recordEffect(jobId, key),
    close: async () => {},
  };
}

jobStoreContract('PostgresJobStore', open);
workerRegistryContract('PostgresWorkerRegistry', open);
storeNoticesContract('PostgresStoreNotices', open);
