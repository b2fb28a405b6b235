import { SystemIds } from '@deadman/config';
import type { Lease } from '@deadman/domain';
import { eventually, startTestRedis } from '@deadman/testing';
import type { TestRedis } from '@deadman/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { leaseStoreContract } from '../lease-store.contract.js';
import { wakeUpSetContract } from '../wake-up-set.contract.js';
import { RedisLeaseStore } from './redis-lease-store.js';
import { RedisScripts, refuseEviction } from './redis-scripts.js';
import { RedisWakeUpSet } from './redis-wake-up-set.js';

jest.setTimeout(60_000);

let server: TestRedis;

beforeAll(async () => {
  server = await startTestRedis();
});

afterAll(() => server.kill());

async function open(): Promise<{ scripts: RedisScripts; admin: Redis }> {
  const admin = new Redis(server.url);
  await admin.flushall();
  const scripts = new RedisScripts({ url: server.url });
  await scripts.ready(10_000);
  return { scripts, admin };
}

leaseStoreContract('RedisLeaseStore', async () => {
  const { scripts, admin } = await open();
  return {
    store: new RedisLeaseStore(scripts),
    ttlMs: 600,
    elapse: (ms) => sleep(ms),
    forget: async () => void (await admin.flushall()),
    close: async () => {
      scripts.close();
      admin.disconnect();
    },
  };
});

wakeUpSetContract('RedisWakeUpSet', async () => {
  const { scripts, admin } = await open();
  return {
    set: new RedisWakeUpSet(scripts),
    laterMs: 600,
    elapse: (ms) => sleep(ms),
    close: async () => {
      scripts.close();
      admin.disconnect();
    },
  };
});

describe('RedisLeaseStore', () => {
  const ids = new SystemIds();
  let scripts: RedisScripts;
  let admin: Redis;
  let store: RedisLeaseStore;

  beforeEach(async () => {
    ({ scripts, admin } = await open());
    store = new RedisLeaseStore(scripts);
  });

  afterEach(() => {
    scripts.close();
    admin.disconnect();
  });

  const aLease = (): Lease => ({ jobId: ids.timeOrdered(), workerId: ids.random(), attempt: 1, token: ids.random() });

  it('goes on after a SCRIPT FLUSH', async () => {
    const lease = aLease();
    await store.acquire([lease], 30_000);
    await admin.script('FLUSH');
    expect(await store.renew([lease], 30_000)).toEqual([true]);
    expect((await store.read([lease.jobId])).present).toEqual([true]);
  });

  it('sends a batch as one command', async () => {
    const leases = Array.from({ length: 500 }, aLease);
    await store.acquire(leases, 30_000);
    const before = await commandsOf(admin);
    await store.renew(leases, 30_000);
    await store.release(leases);
    expect((await commandsOf(admin)) - before).toBe(2);
  });

  it('fails at once while Redis is away, and works again when it is back, with all trust to earn anew', async () => {
    const lease = aLease();
    await store.acquire([lease], 30_000);
    await store.read([]);
    await server.kill();
    await eventually(() =>
      expect(store.renew([lease], 30_000)).rejects.toMatchObject({ code: 'lease-store-unavailable' }),
    );
    await server.restart();
    const reading = await eventually(() => store.read([lease.jobId]));
    expect(reading).toEqual({ present: [false], unbrokenMs: 0 });
    expect(await store.renew([lease], 30_000)).toEqual([true]);
  });

  it('puts no trust in a Redis that may evict, and services refuse it', async () => {
    await store.read([]);
    await sleep(50);
    expect((await store.read([])).unbrokenMs).toBeGreaterThan(0);
    await admin.config('SET', 'maxmemory-policy', 'volatile-lru');
    await sleep(50);
    expect((await store.read([])).unbrokenMs).toBe(0);
    await expect(refuseEviction(scripts)).rejects.toMatchObject({ code: 'configuration-invalid' });
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    await refuseEviction(scripts);
  });

  it('an answer that takes too long is an error, not an absence', async () => {
    const impatient = new RedisScripts({ url: server.url, commandTimeoutMs: 500 });
    await impatient.ready(10_000);
    await admin.client('PAUSE', 10_000, 'ALL');
    await expect(new RedisLeaseStore(impatient).read([ids.timeOrdered()])).rejects.toMatchObject({
      code: 'lease-store-unavailable',
    });
    await admin.client('UNPAUSE');
    impatient.close();
  });
});

/** Script calls so far, by digest or whole. */
async function commandsOf(admin: Redis): Promise<number> {
  const stats = await admin.info('commandstats');
  const calls = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}
