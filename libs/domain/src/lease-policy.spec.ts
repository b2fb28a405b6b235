import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LapseReason } from './job-event.js';
import { DEFAULT_LEASE_POLICY, leasePolicy, reasonToReclaim } from './lease-policy.js';
import type { Suspicion } from './lease-policy.js';

const TTL = 30_000;

/** The usual death: claimed long ago, its worker silent, its lease gone, every witness reliable. */
const DEAD: Suspicion = {
  claimAgeMs: 2 * TTL,
  timeoutMs: 900_000,
  cancelAgeMs: null,
  workerAgeMs: TTL + 1,
  storeUnbrokenMs: 10 * TTL,
  lease: 'absent',
  leaseStoreUnbrokenMs: 10 * TTL,
  leaseSeenAgeMs: null,
};

const reason = (changes: Partial<Suspicion>): string | null =>
  reasonToReclaim({ ...DEAD, ...changes }, DEFAULT_LEASE_POLICY);

describe('leasePolicy', () => {
  it('beats three times in a TTL', () => {
    expect(DEFAULT_LEASE_POLICY).toEqual({
      ttlMs: 30_000,
      beatMs: 10_000,
      timeoutSlackMs: 5_000,
      cancelGraceMs: 30_000,
    });
    expect(leasePolicy(2_000).beatMs).toBe(666);
  });

  it('takes single times that a deployment sets', () => {
    expect(leasePolicy(6_000, { cancelGraceMs: 1 })).toMatchObject({ ttlMs: 6_000, beatMs: 2_000, cancelGraceMs: 1 });
  });
});

describe('reasonToReclaim: the table of protocol §9, row by row', () => {
  it.each<[string, Partial<Suspicion>, string | null]>([
    ['a claim no older than a TTL is its own lease', { claimAgeMs: TTL, workerAgeMs: null }, null],
    ['a claim just older than a TTL is looked at', { claimAgeMs: TTL + 1 }, 'lease-lapsed'],

    [
      'timeout and slack passed: taken from a worker that lives',
      { claimAgeMs: TTL + 905_001, workerAgeMs: 0, lease: 'present' },
      'timeout',
    ],
    ['timeout and slack not quite passed: left', { claimAgeMs: TTL + 905_000, workerAgeMs: 0, lease: 'present' }, null],
    [
      'timeout is tested before the reliability of any witness',
      { claimAgeMs: TTL + 905_001, storeUnbrokenMs: 0 },
      'timeout',
    ],

    [
      'a cancel out of grace: taken from a worker that lives',
      { cancelAgeMs: 30_001, workerAgeMs: 0, lease: 'present' },
      'cancel-grace',
    ],
    ['a cancel within its grace: left', { cancelAgeMs: 30_000, workerAgeMs: 0 }, null],

    ['a fresh worker lives, whatever the lease says: absent', { workerAgeMs: TTL, lease: 'absent' }, null],
    [
      'a fresh worker lives, whatever the lease says: unknown',
      { workerAgeMs: 0, lease: 'unknown', leaseStoreUnbrokenMs: 0 },
      null,
    ],

    ['stale, lease present: cut off from the database, not dead', { workerAgeMs: 10 * TTL, lease: 'present' }, null],
    [
      'stale, lease present in a store not yet trusted: left too',
      { workerAgeMs: 10 * TTL, lease: 'present', leaseStoreUnbrokenMs: 0 },
      null,
    ],

    ['stale, lease absent, store trusted: the usual death', {}, 'lease-lapsed'],
    ['a worker whose row is gone counts as stale', { workerAgeMs: null }, 'lease-lapsed'],
    ['trust of exactly a TTL is enough', { leaseStoreUnbrokenMs: TTL }, 'lease-lapsed'],

    ['lease absent but not trusted: left until 2 TTL', { workerAgeMs: 2 * TTL, leaseStoreUnbrokenMs: TTL - 1 }, null],
    [
      'lease absent, not trusted, stale for over 2 TTL',
      { workerAgeMs: 2 * TTL + 1, leaseStoreUnbrokenMs: TTL - 1 },
      'worker-gone',
    ],
    ['lease unknown: left until 2 TTL', { workerAgeMs: 2 * TTL, lease: 'unknown', leaseStoreUnbrokenMs: 0 }, null],
    [
      'lease unknown, stale for over 2 TTL',
      { workerAgeMs: 2 * TTL + 1, lease: 'unknown', leaseStoreUnbrokenMs: 0 },
      'worker-gone',
    ],
    ['lease unknown, row gone', { workerAgeMs: null, lease: 'unknown', leaseStoreUnbrokenMs: 0 }, 'worker-gone'],
    [
      'an error is never absence, however trusted the store was',
      { lease: 'unknown', leaseStoreUnbrokenMs: 10 * TTL },
      null,
    ],
    [
      'lease unknown now but seen within a TTL: left',
      { workerAgeMs: 5 * TTL, lease: 'unknown', leaseSeenAgeMs: TTL },
      null,
    ],
    [
      'lease unknown and not seen for over a TTL',
      { workerAgeMs: 5 * TTL, lease: 'unknown', leaseSeenAgeMs: TTL + 1 },
      'worker-gone',
    ],

    [
      'everyone looks stale after an outage: the database must be unbroken for a TTL',
      { storeUnbrokenMs: TTL - 1, workerAgeMs: 10 * TTL },
      null,
    ],
    ['unbroken for exactly a TTL is enough', { storeUnbrokenMs: TTL }, 'lease-lapsed'],
    ['an outage does not delay a cancel out of grace', { storeUnbrokenMs: 0, cancelAgeMs: 30_001 }, 'cancel-grace'],
  ])('%s', (_, changes, expected) => {
    expect(reason(changes)).toBe(expected);
  });
});

describe('reasonToReclaim: whatever is known', () => {
  const age = fc.integer({ min: 0, max: 12 * TTL });
  const anySuspicion: fc.Arbitrary<Suspicion> = fc.record({
    claimAgeMs: age,
    timeoutMs: age,
    cancelAgeMs: fc.option(age),
    workerAgeMs: fc.option(age),
    storeUnbrokenMs: age,
    lease: fc.constantFrom('present', 'absent', 'unknown'),
    leaseStoreUnbrokenMs: age,
    leaseSeenAgeMs: fc.option(age),
  });
  type Promised = (known: Suspicion, taken: LapseReason | null) => boolean;

  /** What fast-check says of a case that breaks the promise, its seed included; null when none was found. */
  const violation = (promise: Promised): string | null => {
    const judge = (known: Suspicion): boolean => promise(known, reasonToReclaim(known, DEFAULT_LEASE_POLICY));
    const details = fc.check(fc.property(anySuspicion, judge), { numRuns: 5_000 });
    return details.failed ? (fc.defaultReportMessage(details) ?? 'failed') : null;
  };

  /** Needs no silence of the worker. */
  const isOverrun = (taken: LapseReason | null): boolean =>
    taken === null || taken === 'timeout' || taken === 'cancel-grace';

  it('nothing is taken within a TTL of its claim', () => {
    expect(violation((known, taken) => known.claimAgeMs > TTL || taken === null)).toBeNull();
  });

  it('what is over its time is always taken, so no job can run for ever', () => {
    const limitMs = (known: Suspicion): number => TTL + known.timeoutMs + DEFAULT_LEASE_POLICY.timeoutSlackMs;
    expect(violation((known, taken) => known.claimAgeMs <= limitMs(known) || taken === 'timeout')).toBeNull();
  });

  it('a worker that was heard within a TTL loses a job only over its time or its cancel', () => {
    const isHeard = (known: Suspicion): boolean => known.workerAgeMs !== null && known.workerAgeMs <= TTL;
    expect(violation((known, taken) => !isHeard(known) || isOverrun(taken))).toBeNull();
  });

  it('nobody is called silent by a database that was away', () => {
    expect(violation((known, taken) => known.storeUnbrokenMs >= TTL || isOverrun(taken))).toBeNull();
  });

  it('a lease that is present always protects a silent worker', () => {
    expect(violation((known, taken) => known.lease !== 'present' || isOverrun(taken))).toBeNull();
  });

  it('knowing less never takes more: what an unknown lease gives up, an absent one gives up too', () => {
    const ifAbsent = (known: Suspicion): LapseReason | null =>
      reasonToReclaim({ ...known, lease: 'absent' }, DEFAULT_LEASE_POLICY);
    const isUnknown = (known: Suspicion): boolean => known.lease === 'unknown';
    expect(violation((known, taken) => !isUnknown(known) || taken === null || ifAbsent(known) !== null)).toBeNull();
  });

  it('a dead worker loses every job after 2 TTL without waiting for a timeout, once the database can be trusted', () => {
    const isGone = (known: Suspicion): boolean =>
      known.claimAgeMs > TTL &&
      known.storeUnbrokenMs >= TTL &&
      (known.workerAgeMs === null || known.workerAgeMs > 2 * TTL) &&
      known.lease !== 'present' &&
      known.leaseSeenAgeMs === null;
    expect(violation((known, taken) => !isGone(known) || taken !== null)).toBeNull();
  });
});
