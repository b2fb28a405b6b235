import { ABORT_REASONS } from '@deadman/domain';
import type { AbortReasonCode } from '@deadman/domain';

/**
 * Why a run was aborted, or null while it was not. It decides what becomes of the job when the handler throws, so a
 * handler that hears the abort only has to stop, by throwing or returning, within a few seconds. What each reason asks
 * of its author:
 *
 * - `shutdown`: the worker stops. Leave things so that another run can do the work from the start. The job is handed
 *   back without a failure.
 * - `cancelled`: somebody asked for the job to end. Undo what should not stay. The job ends as cancelled, or as
 *   succeeded if the handler finishes all the same.
 * - `timeout`: the attempt overran its time. It counts as a failure and is retried after the job's backoff.
 * - `lease-lost`: another worker may already run this job. Fire no effect any more, not even a clean-up of what both
 *   share; whatever this run returns or throws is dropped.
 *
 * Recognises the reason by its shape: the worker's `AbortReason` class may come from another copy of this package, and
 * `instanceof` would then say no.
 */
export function abortReasonOf(signal: AbortSignal): AbortReasonCode | null {
  const reason: unknown = signal.aborted ? signal.reason : null;
  if (typeof reason !== 'object' || reason === null || !('code' in reason)) return null;
  return ABORT_REASONS.find((code) => code === reason.code) ?? null;
}
