import type { AttemptEnd, AttemptRecord, Transition, Verdict } from '@deadman/domain';

/**
 * Whether a history row is what this very transition writes, so that an earlier try of it had worked and only its reply
 * was lost. The token alone does not tell: a reaper ends an attempt under the token of the claim that it takes away, and a
 * worker's beat may have released what its settler now brings.
 */
export function isOwnEnd(
  transition: Transition,
  row: Pick<AttemptRecord, 'attempt' | 'claimToken' | 'outcome' | 'reason' | 'reclaimedBy'>,
): boolean {
  const { fence } = transition;
  if (fence.by !== 'claim' || row.attempt !== fence.attempt || row.claimToken !== fence.token) return false;
  return possibleEnds(transition).some(
    ({ outcome, reason, reclaimedBy }) =>
      outcome === row.outcome && reason === row.reason && reclaimedBy === row.reclaimedBy,
  );
}

function possibleEnds(transition: Transition): readonly AttemptEnd[] {
  const verdicts: readonly (Verdict | null)[] = [transition, transition.withoutEffects];
  return verdicts.flatMap((verdict) => [verdict?.decision.ends ?? [], verdict?.underCancel?.ends ?? []].flat());
}
