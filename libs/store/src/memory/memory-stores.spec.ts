import { FakeClock } from '@deadman/testing';
import type { StoreUnderTest } from '../contract/store-under-test.contract.js';
import { jobStoreContract } from '../job-store.contract.js';
import { storeNoticesContract } from '../store-notices.contract.js';
import { workerRegistryContract } from '../worker-registry.contract.js';
import { MemoryDatabase } from './memory-database.js';
import { MemoryJobStore } from './memory-job-store.js';
import { MemoryStoreNotices } from './memory-store-notices.js';
import { MemoryWorkerRegistry } from './memory-worker-registry.js';

async function open(): Promise<StoreUnderTest> {
  const clock = new FakeClock();
  const db = new MemoryDatabase(clock);
  return {
    store: new MemoryJobStore(db),
    workers: new MemoryWorkerRegistry(db),
    notices: new MemoryStoreNotices(db),
    now: async () => clock.now(),
    elapse: (ms) => clock.advance(ms),
    recordEffect: async (jobId, key) => db.recordEffect(jobId, key),
    close: async () => {},
  };
}

jobStoreContract('MemoryJobStore', open);
workerRegistryContract('MemoryWorkerRegistry', open);
storeNoticesContract('MemoryStoreNotices', open);
