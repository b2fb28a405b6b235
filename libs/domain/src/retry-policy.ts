import type { Random } from './ports/random.js';

/** Never retried: the first failure is the last. */
export interface NoRetry {
  readonly kind: 'none';
}

/** The same delay after every failure. */
export interface FixedDelay {
  readonly kind: 'fixed';
  /** Milliseconds, 0 or more. */
  readonly baseMs: number;
}

/** How much of an exponential delay is left to chance. */
export const JITTERS = ['full', 'equal', 'none'] as const;
export type Jitter = (typeof JITTERS)[number];

/** `baseMs × factor^(failures − 1)`, at most `maxMs`, then jittered. */
export interface ExponentialBackoff {
  readonly kind: 'exponential';
  /** Delay after the first failure, before jitter. Milliseconds. */
  readonly baseMs: number;
  /** At least 1. */
  readonly factor: number;
  /** Upper bound before jitter. Milliseconds, not below `baseMs`. */
  readonly maxMs: number;
  readonly jitter: Jitter;
}

export type RetryPolicy = NoRetry | FixedDelay | ExponentialBackoff;

/** 2 s, doubling to at most 10 min, with full jitter (`protocol.md` §13). */
export const DEFAULT_RETRY: ExponentialBackoff = {
  kind: 'exponential',
  baseMs: 2_000,
  factor: 2,
  maxMs: 600_000,
  jitter: 'full',
};

/** Attempts a job may fail before it is DEAD, unless its submit says otherwise. */
export const DEFAULT_MAX_ATTEMPTS = 5;

/**
 * The delay until the next run, in whole milliseconds, or null when the policy allows no further run.
 *
 * @param failures failures so far, the one just counted included: 1 or more.
 */
export function retryDelayMs(
  policy: RetryPolicy,
  failures: number,
  maxAttempts: number,
  random: Random,
): number | null {
  if (failures >= maxAttempts) return null;
  switch (policy.kind) {
    case 'none':
      return null;
    case 'fixed':
      return Math.round(policy.baseMs);
    case 'exponential':
      return Math.round(jittered(exponentialMs(policy, failures), policy.jitter, random));
  }
}

/** Caps before multiplying out, so that a large exponent ends at `maxMs` and never at Infinity or NaN. */
function exponentialMs({ baseMs, factor, maxMs }: ExponentialBackoff, failures: number): number {
  return Math.min(maxMs, baseMs * Math.min(factor ** (failures - 1), Number.MAX_SAFE_INTEGER));
}

/** Full: uniform in [0, d). Equal: d/2 plus uniform in [0, d/2). After "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. */
function jittered(delayMs: number, jitter: Jitter, random: Random): number {
  switch (jitter) {
    case 'none':
      return delayMs;
    case 'equal':
      return delayMs / 2 + random.next() * (delayMs / 2);
    case 'full':
      return random.next() * delayMs;
  }
}
