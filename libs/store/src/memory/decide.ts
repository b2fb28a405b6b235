import type { Decision, Due, Fence, Job, Transition, Verdict } from '@deadman/domain';
import type { Applied } from '@deadman/domain';

/** Whether the row is still what the transition expects (`protocol.md` §2). */
export function holds(fence: Fence, job: Job): boolean {
  switch (fence.by) {
    case 'none':
      return false;
    case 'version':
      return job.version === fence.version;
    case 'claim':
      return job.claim !== null && job.attempt === fence.attempt && job.claim.token === fence.token;
  }
}

export interface Choice {
  readonly decision: Decision;
  readonly by: Applied['by'];
}

/** The decision that holds for the row as it is: a lost effect outweighs the success, a cancel request what is left of it. */
export function choose(transition: Transition, job: Job, recorded: ReadonlyMap<string, string> | undefined): Choice {
  const isMissing = transition.effects.some((key) => !recorded?.has(key));
  const verdict: Verdict = isMissing && transition.withoutEffects !== null ? transition.withoutEffects : transition;
  if (job.cancelRequestedAt !== null && verdict.underCancel !== null) {
    return { decision: verdict.underCancel, by: 'cancel-request' };
  }
  return { decision: verdict.decision, by: verdict === transition ? 'decision' : 'effects-missing' };
}

/** The instant a job becomes due. One in the past means now: it is when the job became due, not when it was wished for. */
export function resolveDue(due: Due, now: Date): Date {
  switch (due.kind) {
    case 'now':
      return now;
    case 'after':
      return new Date(now.getTime() + due.delayMs);
    case 'at':
      return due.at > now ? due.at : now;
  }
}
