import { isDeadmanError } from '@deadman/domain';
import type { Lease } from '@deadman/domain';
import { FakeClock } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { leaseStoreContract } from '../lease-store.contract.js';
import { MemoryLeaseStore } from './memory-lease-store.js';

leaseStoreContract('MemoryLeaseStore', async () => {
  const clock = new FakeClock();
  const store = new MemoryLeaseStore(clock);
  return {
    store,
    ttlMs: 30_000,
    elapse: (ms) => clock.advance(ms),
    forget: async () => store.forget(),
    close: async () => {},
  };
});

describe('MemoryLeaseStore', () => {
  const leaseOf = (jobId: string): Lease => ({ jobId, workerId: 'worker', attempt: 1, token: 'token' });

  it('holds a lease up to its last millisecond and no longer', async () => {
    const clock = new FakeClock();
    const store = new MemoryLeaseStore(clock);
    await store.acquire([leaseOf('a')], 1_000);
    await clock.advance(999);
    expect((await store.read(['a'])).present).toEqual([true]);
    await clock.advance(1);
    expect((await store.read(['a'])).present).toEqual([false]);
  });

  it('keeps its trust over a gap of exactly 3 s', async () => {
    const clock = new FakeClock();
    const store = new MemoryLeaseStore(clock);
    await store.read([]);
    await clock.advance(3_000);
    expect((await store.read([])).unbrokenMs).toBe(3_000);
  });

  it('throws lease-store-unavailable from every method while it cannot be reached', async () => {
    const store = new MemoryLeaseStore(new FakeClock(), { isReachable: () => false });
    const calls = [store.acquire([], 1), store.renew([], 1), store.release([]), store.read([])];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome.status === 'rejected' && isDeadmanError(outcome.reason, 'lease-store-unavailable')).toBe(true);
    }
  });

  it('keeps the living through every sweep of the lapsed', async () => {
    const clock = new FakeClock();
    const store = new MemoryLeaseStore(clock);
    await store.acquire([leaseOf('living')], 1_000_000);
    for (let round = 0; round < 20; round += 1) {
      await store.acquire(
        Array.from({ length: 300 }, (_, index) => leaseOf(`${round}-${index}`)),
        1_000,
      );
      await clock.advance(1_000);
    }
    expect((await store.read(['living', '19-299'])).present).toEqual([true, false]);
  });
});
