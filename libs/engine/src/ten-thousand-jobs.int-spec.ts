import { setTimeout as wait } from 'node:timers/promises';
import { Ids } from '@deadman/domain';
import { MemoryLeaseStore } from '@deadman/leases';
import { migrate, openPostgres, PostgresJobStore, PostgresWorkerRegistry, readMigrations } from '@deadman/store';
import type { PostgresDatabase } from '@deadman/store';
import { createTestDatabase, RealClock, SeededRandom, SequenceIds } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { MemoryTransport } from '@deadman/transport';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { expectTenThousandJobsToRunOnce } from './ten-thousand-jobs.contract.js';

describe('ten thousand jobs on PostgreSQL', () => {
  const clock = new RealClock();
  let database: TestDatabase;
  let postgres: PostgresDatabase;

  beforeAll(async () => {
    const key = JSON.stringify(readMigrations());
    database = await createTestDatabase({ template: { key, migrate: async (url) => void (await migrate(url)) } });
    postgres = await openPostgres({ url: database.url });
  });

  afterAll(async () => {
    await postgres?.close();
    await database?.drop();
  });

  it('run exactly once each on eight slots, without a lapse', async () => {
    const ids: Ids = new SequenceIds(clock);
    await expectTenThousandJobsToRunOnce({
      store: new PostgresJobStore(postgres),
      registry: new PostgresWorkerRegistry(postgres),
      leases: new MemoryLeaseStore(clock),
      transport: new MemoryTransport(clock),
      clock,
      random: SeededRandom.announced('ten thousand jobs on PostgreSQL'),
      ids,
      until: async (isOver) => {
        while (!isOver()) await wait(10);
      },
    });
  }, 120_000);
});
