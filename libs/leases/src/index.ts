export { MemoryLeaseStore } from './memory/memory-lease-store.js';
export type { MemoryLeaseStoreOptions } from './memory/memory-lease-store.js';
export { MemoryWakeUpSet } from './memory/memory-wake-up-set.js';
