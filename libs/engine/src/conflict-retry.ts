import { isDeadmanError, retryDelayMs } from '@deadman/domain';
import type { Clock, ExponentialBackoff, Random } from '@deadman/domain';

/** A conflict is over within a transaction's length, so it is tried again soon. A guess, kept far below a statement's timeout. */
const BACKOFF: ExponentialBackoff = { kind: 'exponential', baseMs: 10, factor: 2, maxMs: 200, jitter: 'full' };

const MOST_TRIES = 6;

/**
 * Repeats an act that the database broke off because of another transaction (deadlock, serialization failure). That
 * changed nothing, so it is safe to repeat. Throws the last conflict when there is no end to them, and everything else
 * at once.
 */
export async function retryConflicts<R>(
  act: () => Promise<R>,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<R> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      const delayMs = isDeadmanError(error, 'transaction-conflict')
        ? retryDelayMs(BACKOFF, tries, MOST_TRIES, random)
        : null;
      if (delayMs === null) throw error;
      await clock.sleep(delayMs);
    }
  }
}
