import { afterAll, beforeAll } from '@jest/globals';
import { modelContract } from '../contract/model.contract.js';
import { PostgresUnderTest } from './postgres-under-test.contract.js';

let postgres: PostgresUnderTest;

beforeAll(async () => {
  postgres = await PostgresUnderTest.create();
});

afterAll(() => postgres?.drop());

modelContract('PostgresJobStore', () => postgres.open(), { runs: 200, withinMs: 600_000 });
