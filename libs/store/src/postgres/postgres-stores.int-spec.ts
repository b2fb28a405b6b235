import { afterAll, beforeAll } from '@jest/globals';
import type { StoreUnderTest } from '../contract/store-under-test.contract.js';
import { effectStoreContract, jobStoreContract } from '../job-store.contract.js';
import { storeNoticesContract } from '../store-notices.contract.js';
import { workerRegistryContract } from '../worker-registry.contract.js';
import { PostgresUnderTest } from './postgres-under-test.contract.js';

let postgres: PostgresUnderTest;

beforeAll(async () => {
  postgres = await PostgresUnderTest.create();
});

afterAll(() => postgres?.drop());

const open = (): Promise<StoreUnderTest> => postgres.open();

jobStoreContract('PostgresJobStore', open);
effectStoreContract('PostgresEffectStore', open);
workerRegistryContract('PostgresWorkerRegistry', open);
storeNoticesContract('PostgresStoreNotices', open);
