export { MemoryDatabase } from './memory/memory-database.js';
export { MemoryJobStore } from './memory/memory-job-store.js';
export { MemoryStoreNotices } from './memory/memory-store-notices.js';
export { MemoryWorkerRegistry } from './memory/memory-worker-registry.js';
