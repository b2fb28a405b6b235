import type { AttemptRecord } from '@deadman/domain';

/**
 * How often a job ran although nobody had called for it: runs beyond 1 + failures + snoozes + releases of started runs +
 * retries by a person (`protocol.md` §2). The figure to print beside every zero of lost jobs and double effects, which
 * means nothing when no run was ever repeated.
 *
 * @param attempts the job's whole history.
 * @param retries how often a person made it start over from DEAD or CANCELLED, which the history does not tell.
 */
export function duplicateRuns(attempts: readonly AttemptRecord[], retries = 0): number {
  const runs = attempts.filter(mayHaveRun);
  const calledFor = 1 + runs.slice(0, -1).filter(callsForAnother).length + retries;
  return Math.max(0, runs.length - calledFor);
}

/** Nobody lived to tell whether a lapsed attempt had begun, so it counts. */
function mayHaveRun({ startedAt, outcome, reclaimedBy }: AttemptRecord): boolean {
  return startedAt !== null || outcome === 'running' || reclaimedBy !== null;
}

/** A failure or a snooze with a reason is one that ended the job. */
function callsForAnother({ outcome, reason }: AttemptRecord): boolean {
  if (outcome === 'released') return true;
  return (outcome === 'failed' || outcome === 'snoozed') && reason === null;
}
