import { FakeClock } from '@deadman/testing';
import type { StoreUnderTest } from '../contract/store-under-test.contract.js';
import { MemoryDatabase } from './memory-database.js';
import { MemoryEffectStore } from './memory-effect-store.js';
import { MemoryJobStore } from './memory-job-store.js';
import { MemoryStoreNotices } from './memory-store-notices.js';
import { MemoryWorkerRegistry } from './memory-worker-registry.js';

/** The adapters in memory over an empty database of their own. */
export async function openInMemory(): Promise<StoreUnderTest> {
  const clock = new FakeClock();
  const db = new MemoryDatabase(clock);
  return {
    store: new MemoryJobStore(db),
    workers: new MemoryWorkerRegistry(db),
    notices: new MemoryStoreNotices(db),
    effects: new MemoryEffectStore(db),
    now: async () => clock.now(),
    elapse: (ms) => clock.advance(ms),
    recordEffect: async (jobId, key) => db.recordEffect(jobId, key),
    fire: async (transaction, what) => void (await transaction.query('fire', [what])),
    fired: async () => db.statements.map(({ values }) => String(values[0])),
    close: async () => {},
  };
}
