import type { Job, JobLimits } from '@deadman/domain';

/** How long a job has to wait. Milliseconds, both included. */
export interface Wait {
  readonly leastMs: number;
  readonly mostMs: number;
}

/**
 * How long a job waits after a failure by its policy, or null when that failure is its end (`protocol.md` §13). Written down
 * once more: the code under test must not be what it is judged by.
 */
export function waitAfterFailure({
  retry,
  failures,
  maxAttempts,
}: Pick<Job, 'retry' | 'failures' | 'maxAttempts'>): Wait | null {
  if (failures >= maxAttempts || retry.kind === 'none') return null;
  if (retry.kind === 'fixed') return exactly(retry.baseMs);
  let mostMs = retry.baseMs;
  for (let failure = 1; failure < failures; failure += 1) mostMs = Math.min(retry.maxMs, mostMs * retry.factor);
  const sureShare = { full: 0, equal: 0.5, none: 1 }[retry.jitter];
  return { leastMs: Math.floor(mostMs * sureShare), mostMs: Math.ceil(mostMs) };
}

/** In quarantine, after the lapse that `lapsesInRow` counts already; null before there is one (`protocol.md` §9). */
export function waitAfterLapse(
  { lapsesInRow }: Pick<Job, 'lapsesInRow'>,
  { quarantineFrom, quarantineBaseMs, quarantineMaxMs }: JobLimits,
): Wait | null {
  if (lapsesInRow < quarantineFrom) return null;
  let waitMs = quarantineBaseMs;
  for (let lapse = quarantineFrom; lapse < lapsesInRow; lapse += 1) waitMs = Math.min(quarantineMaxMs, waitMs * 2);
  return exactly(waitMs);
}

export function exactly(ms: number): Wait {
  return { leastMs: ms, mostMs: ms };
}
