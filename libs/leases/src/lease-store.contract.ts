import type { Lease, LeaseStore } from '@deadman/domain';
import { SystemIds } from '@deadman/config';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

/** One lease store as the contract sees it, alone in its use of the store. */
export interface LeaseStoreHarness {
  readonly store: LeaseStore;
  /** The TTL to test with: long enough that a slow machine does not let a lease lapse in the middle of a step. */
  readonly ttlMs: number;
  /** Lets time pass for the store. */
  elapse(ms: number): Promise<void>;
  /** Empties the store as a flush or a restart does. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

/** What every lease store promises (`protocol.md` §§5, 6, 9). */
export function leaseStoreContract(name: string, open: () => Promise<LeaseStoreHarness>): void {
  describe(`${name} as a lease store`, () => {
    const ids = new SystemIds();
    let harness: LeaseStoreHarness;
    let store: LeaseStore;
    let ttlMs: number;

    beforeEach(async () => {
      harness = await open();
      ({ store, ttlMs } = harness);
    });

    afterEach(() => harness.close());

    const aLease = (overrides: Partial<Lease> = {}): Lease => ({
      jobId: ids.timeOrdered(),
      workerId: ids.random(),
      attempt: 1,
      token: ids.random(),
      ...overrides,
    });

    /** The same job and attempt under another token, as after a failover that lost a claim. */
    const aRival = (lease: Lease): Lease => ({ ...lease, workerId: ids.random(), token: ids.random() });

    const isPresent = async ({ jobId }: Lease): Promise<boolean> => (await store.read([jobId])).present[0]!;

    it('acquire: sets leases that are absent, a whole batch at once', async () => {
      const leases = Array.from({ length: 100 }, () => aLease());
      await store.acquire(leases, ttlMs);
      const { present } = await store.read(leases.map(({ jobId }) => jobId));
      expect(present).toEqual(leases.map(() => true));
    });

    it('acquire: takes over from a lower attempt', async () => {
      const old = aLease();
      const next = { ...aRival(old), attempt: 2 };
      await store.acquire([old], ttlMs);
      await store.acquire([next], ttlMs);
      expect(await store.renew([old, next], ttlMs)).toEqual([false, true]);
    });

    it('acquire: leaves a lease of the same or a higher attempt alone, and throws for neither', async () => {
      const held = aLease({ attempt: 2 });
      await store.acquire([held], ttlMs);
      await store.acquire([aRival(held)], ttlMs);
      await store.acquire([{ ...aRival(held), attempt: 1 }], ttlMs);
      expect(await store.renew([held], ttlMs)).toEqual([true]);
    });

    it('acquire: attempts compare as numbers', async () => {
      const ninth = aLease({ attempt: 9 });
      const tenth = { ...aRival(ninth), attempt: 10 };
      await store.acquire([ninth], ttlMs);
      await store.acquire([tenth], ttlMs);
      expect(await store.renew([tenth], ttlMs)).toEqual([true]);
    });

    it('acquire: one refused lease holds up no other of the batch', async () => {
      const held = aLease();
      const other = aLease();
      await store.acquire([held], ttlMs);
      await store.acquire([aRival(held), other], ttlMs);
      expect(await store.renew([held, other], ttlMs)).toEqual([true, true]);
    });

    it('a lease that nobody renews vanishes by itself after its TTL', async () => {
      const lease = aLease();
      await store.acquire([lease], ttlMs);
      expect(await isPresent(lease)).toBe(true);
      await harness.elapse(ttlMs + 1);
      expect(await isPresent(lease)).toBe(false);
    });

    it('renew: extends what is mine by a whole TTL', async () => {
      const lease = aLease();
      await store.acquire([lease], ttlMs);
      await harness.elapse(ttlMs / 2);
      expect(await store.renew([lease], ttlMs)).toEqual([true]);
      await harness.elapse(ttlMs / 2 + 1);
      expect(await isPresent(lease)).toBe(true);
      await harness.elapse(ttlMs);
      expect(await isPresent(lease)).toBe(false);
    });

    it('renew: sets again what is absent', async () => {
      const lease = aLease();
      expect(await store.renew([lease], ttlMs)).toEqual([true]);
      expect(await isPresent(lease)).toBe(true);
    });

    it('renew: leaves the lease of another alone, whatever its attempt, and says so', async () => {
      const held = aLease({ attempt: 2 });
      await store.acquire([held], ttlMs);
      const rivals = [aRival(held), { ...aRival(held), attempt: 3 }, { ...aRival(held), attempt: 1 }];
      for (const rival of rivals) expect(await store.renew([rival], ttlMs)).toEqual([false]);
      expect(await store.renew([held], ttlMs)).toEqual([true]);
    });

    it('renew: answers in the order asked', async () => {
      const mine = aLease();
      const held = aLease();
      const absent = aLease();
      await store.acquire([mine, held], ttlMs);
      expect(await store.renew([absent, aRival(held), mine], ttlMs)).toEqual([true, false, true]);
    });

    it('release: deletes what is held by this very claim, and nothing else', async () => {
      const mine = aLease();
      const held = aLease();
      await store.acquire([mine, held], ttlMs);
      await store.release([mine, aRival(held), aLease()]);
      const { present } = await store.read([mine.jobId, held.jobId]);
      expect(present).toEqual([false, true]);
    });

    it('empty batches do nothing', async () => {
      await store.acquire([], ttlMs);
      await store.release([]);
      expect(await store.renew([], ttlMs)).toEqual([]);
      expect((await store.read([])).present).toEqual([]);
    });

    it('read: trust starts at nothing and grows with time while reads go on', async () => {
      const first = await store.read([]);
      expect(first.unbrokenMs).toBe(0);
      for (let second = 0; second < 5; second += 1) {
        await harness.elapse(1_000);
        await store.read([]);
      }
      await harness.elapse(1_000);
      expect((await store.read([])).unbrokenMs).toBeGreaterThanOrEqual(5_900);
    });

    it('read: a gap over 3 s starts trust again', async () => {
      await store.read([]);
      await harness.elapse(2_000);
      expect((await store.read([])).unbrokenMs).toBeGreaterThanOrEqual(1_900);
      await harness.elapse(3_100);
      expect((await store.read([])).unbrokenMs).toBe(0);
    });

    it('read: losing its memory starts trust again, and every lease is absent', async () => {
      const lease = aLease();
      await store.acquire([lease], ttlMs);
      await store.read([]);
      await harness.elapse(1_000);
      await harness.forget();
      const reading = await store.read([lease.jobId]);
      expect(reading).toEqual({ present: [false], unbrokenMs: 0 });
    });
  });
}
