import type { AttemptRecord } from '@deadman/domain';
import type { World } from './world.js';

/**
 * Runs beyond 1 + failures + snoozes + releases of started runs + retries by a person (`protocol.md` §2): handlers that
 * were called, as somebody outside counts them, against what the history calls for.
 */
export function duplicateRuns({ db, executions, promises }: World): number {
  let duplicates = 0;
  for (const { id } of db.jobs.values()) {
    const calledFor = 1 + (db.attempts.get(id) ?? []).filter(callsForAnother).length + promises.retriesOf(id);
    duplicates += Math.max(0, executions.of(id).length - calledFor);
  }
  return duplicates;
}

/** A failure or a snooze with a reason is one that ended the job. */
function callsForAnother({ outcome, reason, startedAt }: AttemptRecord): boolean {
  if (outcome === 'released') return startedAt !== null;
  return (outcome === 'failed' || outcome === 'snoozed') && reason === null;
}
