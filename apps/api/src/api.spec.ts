import { afterAll, beforeAll } from '@jest/globals';
import { batchContract } from './jobs/batch.contract.js';
import { idempotencyContract } from './jobs/idempotency.contract.js';
import { jobsApiContract } from './jobs/jobs-api.contract.js';
import { listsContract } from './jobs/lists.contract.js';
import { startApi } from './testing/api-under-test.contract.js';
import type { ApiUnderTest } from './testing/api-under-test.contract.js';
import { memoryParts } from './testing/memory-parts.contract.js';

let api: ApiUnderTest;

beforeAll(async () => void (api = await startApi(memoryParts())));
afterAll(() => api.close());

jobsApiContract(() => api);
idempotencyContract(() => api);
batchContract(() => api);
listsContract(() => api);
