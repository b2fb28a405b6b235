import type { ClaimRef, EffectStore, Ids } from '@deadman/domain';
import type { Publisher } from './publisher.js';
import type { RunGuard } from './run-guard.js';
import type { Run } from './run.js';
import type { WhileRunningDeps } from './while-running.js';

/** The longest value of an effect or a step, in bytes of UTF-8. */
export const MAX_EFFECT_BYTES = 65_536;

export interface EffectDeps extends WhileRunningDeps {
  readonly store: EffectStore;
  readonly guard: Pick<RunGuard, 'mayFire'>;
  readonly publisher: Pick<Publisher, 'send'>;
  readonly ids: Ids;
}

export function claimOf({ lease: { jobId, attempt, token } }: Run): ClaimRef {
  return { jobId, attempt, token };
}

/** Throws unless the run may do now what cannot be taken back: the reason of its signal when it was aborted. */
export async function assertMayFire(run: Run, guard: EffectDeps['guard']): Promise<void> {
  if (await guard.mayFire(run)) return;
  run.signal.throwIfAborted();
  throw runIsOver();
}

/** What to throw when the store says that the job is no longer this run's. Nothing more may come of the run. */
export function fencedOff(run: Run, operation: 'effect' | 'step', { events }: EffectDeps): unknown {
  const { jobId, attempt } = run.lease;
  events.emit({ kind: 'write-fenced', operation, jobId, attempt });
  run.lose();
  return run.signal.reason;
}

export function runIsOver(): TypeError {
  return new TypeError('The handler has ended: it must wait for its transactions and steps');
}
