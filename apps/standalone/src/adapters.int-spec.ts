import { parseConfig, SystemClock } from '@deadman/config';
import type { Environment } from '@deadman/config';
import { createLogger, createMetricsRegistry } from '@deadman/observability';
import type { Logger } from '@deadman/observability';
import { Teardown } from '@deadman/service-host';
import { openPostgres } from '@deadman/store';
import { createTestDatabase, deferred, FaultProxy } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openAdapters } from './adapters.js';
import type { Adapters } from './composition.js';
import { standaloneConfig } from './config.js';

const info = { service: 'standalone', instance: 'spec', version: '0.0.0' };
const silent = createLogger(info, { level: 'silent', format: 'json' });
const rethrow = (_name: string, error: unknown): never => {
  throw error;
};
const teardown = new Teardown(rethrow);

let database: TestDatabase;
let adapters: Adapters;

beforeAll(async () => {
  database = await createTestDatabase();
  adapters = await open(database.url, {}, silent, teardown);
});
afterAll(async () => {
  await teardown.run();
  await database.drop();
});

function open(url: string, env: Environment, logger: Logger, end: Teardown): Promise<Adapters> {
  const config = parseConfig(standaloneConfig, { NODE_ENV: 'test', ...env });
  const opened = { url, description: 'a test database', stop: () => Promise.resolve() };
  const registry = createMetricsRegistry(info);
  return openAdapters(opened, { config, info, clock: new SystemClock(), logger, registry, teardown: end });
}

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

describe('a start', () => {
  it('tries again for a connection of the beats, which may take no longer than a part of a beat', async () => {
    const proxy = await FaultProxy.start(database.url);
    await proxy.inject({ kind: 'latency', ms: 100 });
    const logger = Object.create(silent) as Logger;
    logger.debug = ({ event }: { readonly event?: string }) => {
      if (event === 'postgres.connection-broken') void proxy.heal();
    };
    const end = new Teardown(rethrow);
    try {
      const opened = await open(proxy.through(database.url), { DEADMAN_LEASE_TTL_MS: '2000' }, logger, end);
      await expect(opened.beats.liveTypes(1_000)).resolves.toEqual(new Set());
    } finally {
      await end.run();
      await proxy.close();
    }
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
