import type { ClaimedJob, Job, Position } from '@deadman/domain';

/** The order of lists and of claims without a ticket. */
export function byCreation(a: Position, b: Position): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || byText(a.id, b.id);
}

/** The order of promotion. */
export function byDueTime(a: Job, b: Job): number {
  return a.scheduledFor.getTime() - b.scheduledFor.getTime() || byText(a.id, b.id);
}

/** The order in which reapers look: the longest claimed first. */
export function byClaimTime(a: ClaimedJob, b: ClaimedJob): number {
  return a.claim.claimedAt.getTime() - b.claim.claimedAt.getTime() || byText(a.id, b.id);
}

/** Uuids compare as their texts do. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
