import { isTerminal } from '@deadman/domain';
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

const COUNTERS = ['failures', 'lapses', 'lapsesInRow', 'crashes', 'snoozes'] as const;

/**
 * The counters of a job that are not what they have to be after a change of its row (`protocol.md` §2). One end of an attempt
 * raises one counter at most; a lapse goes on in a row, and counts as a crash when the run was alone; anything that a handler
 * said ends the row; a release and all other changes keep them, and a person's retry of an ended job clears them.
 */
export function wrongCounters(before: Job, after: Job): readonly string[] {
  const right = rightCounters(before, after);
  return COUNTERS.filter((name) => after[name] !== right[name]).map(
    (name) => `${after[name]} ${name} instead of ${right[name]}`,
  );
}

function rightCounters(before: Job, after: Job): Pick<Job, (typeof COUNTERS)[number]> {
  const { failures, lapses, lapsesInRow, crashes, snoozes } = before;
  const same = { failures, lapses, lapsesInRow, crashes, snoozes };
  if (isTerminal(before.state)) return { failures: 0, lapses: 0, lapsesInRow: 0, crashes: 0, snoozes: 0 };
  if (before.state !== 'RUNNING' || after.state === 'RUNNING') return same;
  if (after.lapses > lapses) {
    const isCrash = before.claim?.alone === true;
    return { ...same, lapses: lapses + 1, lapsesInRow: lapsesInRow + 1, crashes: crashes + (isCrash ? 1 : 0) };
  }
  const spoken = { ...same, lapsesInRow: 0, crashes: 0 };
  if (after.failures > failures) return { ...spoken, failures: failures + 1 };
  if (after.snoozes > snoozes) return { ...spoken, snoozes: snoozes + 1 };
  return after.state === 'SUCCEEDED' ? spoken : same;
}
