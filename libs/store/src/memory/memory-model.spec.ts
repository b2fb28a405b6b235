import { modelContract } from '../contract/model.contract.js';
import { openInMemory } from './memory-under-test.contract.js';

modelContract('MemoryJobStore', openInMemory, { runs: 10_000, withinMs: 300_000 });
