import { parseConfig, SystemClock } from '@deadman/config';
import { createLogger, createMetricsRegistry } from '@deadman/observability';
import { Teardown } from '@deadman/service-host';
import { openPostgres } from '@deadman/store';
import { createTestDatabase, deferred } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openAdapters } from './adapters.js';
import type { Adapters } from './composition.js';
import { standaloneConfig } from './config.js';

const info = { service: 'standalone', instance: 'spec', version: '0.0.0' };
const teardown = new Teardown((_name, error) => {
  throw error;
});

let database: TestDatabase;
let adapters: Adapters;

beforeAll(async () => {
  database = await createTestDatabase();
  const config = parseConfig(standaloneConfig, { NODE_ENV: 'test' });
  const logger = createLogger(info, { level: 'silent', format: 'json' });
  const opened = { url: database.url, description: 'a test database', stop: () => Promise.resolve() };
  const registry = createMetricsRegistry(info);
  adapters = await openAdapters(opened, { config, info, clock: new SystemClock(), logger, registry, teardown });
});
afterAll(async () => {
  await teardown.run();
  await database.drop();
});

describe('the reads of the API', () => {
  it('hold up nobody else when they are slow, and give up after two seconds', async () => {
    const unlock = await lockProgress();
    let isOver = false;
    const asked = Array.from({ length: 10 }, () => adapters.reads.listJobs({ order: 'newest-first', limit: 1 }));
    const lists = Promise.allSettled(asked).finally(() => (isOver = true));

    await adapters.store.findDueSoon({ withinMs: 1_000, limit: 1 });
    expect(isOver).toBe(false);
    for (const list of await lists) expect(list).toMatchObject({ reason: { code: 'statement-timeout' } });
    await unlock();
  });
});

/** Makes every list wait for the returned function to be called, and nothing else. */
async function lockProgress(): Promise<() => Promise<void>> {
  const isLocked = deferred<void>();
  const letGo = deferred<void>();
  const locker = await openPostgres({ url: database.url, poolSize: 1, statementTimeoutMs: 60_000 });
  const locking = locker.transaction(async (run) => {
    await run({ name: 'lock_progress', text: 'LOCK TABLE deadman.progress IN ACCESS EXCLUSIVE MODE' }, []);
    isLocked.resolve();
    await letGo.promise;
  });
  await isLocked.promise;
  return async () => {
    letGo.resolve();
    await locking;
    await locker.close();
  };
}
