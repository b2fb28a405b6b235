import { isDeadmanError, retryDelayMs } from '@deadman/domain';
import type { Clock, EngineEvents, ExponentialBackoff, Random } from '@deadman/domain';
import type { Run } from './run.js';

/** A conflict is over within milliseconds and an outage within seconds; a guess for both. */
const BACKOFF: ExponentialBackoff = { kind: 'exponential', baseMs: 20, factor: 2, maxMs: 2_000, jitter: 'full' };

export interface WhileRunningDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EngineEvents;
}

/**
 * Repeats an act of a handler on the store for as long as the store is away or another transaction is in the way: that
 * is no failure of the handler. The run bounds it, since a store that stays away ends each run, by its timeout at last;
 * then the reason of its signal is thrown.
 *
 * @param act is safe to repeat whatever became of it.
 */
export async function whileRunning<Result>(
  run: Run,
  act: () => Promise<Result>,
  { clock, random, events }: WhileRunningDeps,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      if (!isDeadmanError(error) || !error.retryable) throw error;
      events.emit({ kind: 'loop-failed', loop: 'effects', error });
      await clock.sleep(retryDelayMs(BACKOFF, tries, Infinity, random) ?? BACKOFF.maxMs, run.signal);
      run.signal.throwIfAborted();
    }
  }
}
