export { MemoryLeaseStore } from './memory/memory-lease-store.js';
export type { MemoryLeaseStoreOptions } from './memory/memory-lease-store.js';
export { MemoryWakeUpSet } from './memory/memory-wake-up-set.js';
export { RedisLeaseStore } from './redis/redis-lease-store.js';
export { RedisScripts, refuseEviction } from './redis/redis-scripts.js';
export type { RedisOptions } from './redis/redis-scripts.js';
export { RedisWakeUpSet } from './redis/redis-wake-up-set.js';
