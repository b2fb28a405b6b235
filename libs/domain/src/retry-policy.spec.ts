import { FixedRandom, SeededRandom } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_MAX_ATTEMPTS, DEFAULT_RETRY, JITTERS, retryDelayMs } from './retry-policy.js';
import type { ExponentialBackoff, Jitter, RetryPolicy } from './retry-policy.js';

const UNBOUNDED = Number.MAX_SAFE_INTEGER;

const exponential = (overrides: Partial<ExponentialBackoff> = {}): ExponentialBackoff => ({
  ...DEFAULT_RETRY,
  jitter: 'none',
  ...overrides,
});

/** The part of a delay that is not left to chance. */
const LEAST_SHARE: Readonly<Record<Jitter, number>> = { none: 1, equal: 0.5, full: 0 };

/** The curve of the first `length` failures, with the dice showing `dice`. */
const curve = (policy: RetryPolicy, length: number, dice = 0): (number | null)[] =>
  Array.from({ length }, (_, index) => retryDelayMs(policy, index + 1, UNBOUNDED, new FixedRandom(dice)));

const anyBackoff: fc.Arbitrary<ExponentialBackoff> = fc
  .record({
    kind: fc.constant('exponential' as const),
    baseMs: fc.integer({ min: 0, max: 10 ** 9 }),
    factor: fc.double({ min: 1, max: 1_000, noNaN: true }),
    beyondBaseMs: fc.integer({ min: 0, max: 10 ** 9 }),
    jitter: fc.constantFrom(...JITTERS),
  })
  .map(({ beyondBaseMs, ...policy }) => ({ ...policy, maxMs: policy.baseMs + beyondBaseMs }));

const anyFailures = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 1 }));

describe('retryDelayMs', () => {
  it('none: the first failure is the last', () => {
    expect(retryDelayMs({ kind: 'none' }, 1, 5, new FixedRandom())).toBeNull();
  });

  it('fixed: the same delay after every failure, also none at all', () => {
    expect(curve({ kind: 'fixed', baseMs: 250 }, 4)).toEqual([250, 250, 250, 250]);
    expect(curve({ kind: 'fixed', baseMs: 0 }, 2)).toEqual([0, 0]);
  });

  it('exponential: doubles from 2 s to 10 min by default', () => {
    expect(curve(exponential(), 11)).toEqual([
      2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 600_000, 600_000,
    ]);
  });

  it('exponential with factor 1 stays where it starts', () => {
    expect(curve(exponential({ factor: 1 }), 3)).toEqual([2_000, 2_000, 2_000]);
  });

  it.each<[Jitter, number, number, number]>([
    ['none', 2_000, 2_000, 2_000],
    ['equal', 1_000, 1_500, 1_999],
    ['full', 0, 1_000, 1_998],
  ])('%s jitter: the dice at 0, ½ and nearly 1', (jitter, least, middle, most) => {
    const policy = exponential({ jitter });
    expect([0, 0.5, 0.999].map((dice) => curve(policy, 1, dice)[0])).toEqual([least, middle, most]);
  });

  it.each(['fixed', 'exponential'] as const)('%s: no delay once `maxAttempts` failures are reached', (kind) => {
    const policy: RetryPolicy = kind === 'fixed' ? { kind, baseMs: 1 } : exponential();
    const delays = [1, 4, 5, 6].map((failures) =>
      retryDelayMs(policy, failures, DEFAULT_MAX_ATTEMPTS, new FixedRandom()),
    );
    expect(delays.map((delay) => delay === null)).toEqual([false, false, true, true]);
  });

  it("is a whole number of milliseconds within the policy's bounds, for any policy, count and dice", () => {
    fc.assert(
      fc.property(anyBackoff, anyFailures, fc.integer(), (policy, failures, seed) => {
        const delayMs = retryDelayMs(policy, failures, UNBOUNDED, new SeededRandom(seed));
        expect(Number.isSafeInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(Math.floor(policy.baseMs * LEAST_SHARE[policy.jitter]));
        expect(delayMs).toBeLessThanOrEqual(policy.maxMs);
      }),
      { numRuns: 5_000 },
    );
  });

  it('never falls with more failures when nothing is left to chance', () => {
    fc.assert(
      fc.property(anyBackoff, anyFailures, anyFailures, (policy, one, other) => {
        const delayMs = (failures: number): number | null =>
          retryDelayMs({ ...policy, jitter: 'none' }, failures, UNBOUNDED, new FixedRandom());
        expect(delayMs(Math.min(one, other))).toBeLessThanOrEqual(delayMs(Math.max(one, other))!);
      }),
    );
  });

  it('full jitter spreads a herd over the whole delay', () => {
    const random = new SeededRandom(11);
    const policy = exponential({ jitter: 'full' });
    const delays = Array.from({ length: 10_000 }, () => retryDelayMs(policy, 1, UNBOUNDED, random)!);
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    expect(mean).toBeGreaterThan(950);
    expect(mean).toBeLessThan(1_050);
    expect(Math.min(...delays)).toBeLessThan(10);
    expect(Math.max(...delays)).toBeGreaterThan(1_990);
  });
});
