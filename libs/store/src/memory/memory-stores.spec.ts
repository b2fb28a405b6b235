import { effectStoreContract, jobStoreContract } from '../job-store.contract.js';
import { storeNoticesContract } from '../store-notices.contract.js';
import { workerRegistryContract } from '../worker-registry.contract.js';
import { openInMemory } from './memory-under-test.contract.js';

jobStoreContract('MemoryJobStore', openInMemory);
effectStoreContract('MemoryEffectStore', openInMemory);
workerRegistryContract('MemoryWorkerRegistry', openInMemory);
storeNoticesContract('MemoryStoreNotices', openInMemory);
