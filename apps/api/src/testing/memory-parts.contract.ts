import { SystemClock } from '@deadman/config';
import { MemoryDatabase, MemoryJobStore, MemoryWorkerRegistry } from '@deadman/store';
import type { ApiParts } from './api-under-test.contract.js';

/** Adapters over one database in memory. */
export function memoryParts(): ApiParts & { readonly store: MemoryJobStore } {
  const clock = new SystemClock();
  const db = new MemoryDatabase(clock);
  return { store: new MemoryJobStore(db), registry: new MemoryWorkerRegistry(db), clock };
}
