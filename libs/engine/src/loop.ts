import { retryDelayMs } from '@deadman/domain';
import type { Clock, EngineEvents, Random } from '@deadman/domain';

export interface LoopSpec {
  /** Names the loop in its events. */
  readonly name: string;
  /** Pause between the end of a turn and the next one. Milliseconds; asked anew after each turn when it is a function. */
  readonly everyMs: number | (() => number);
  /** One bounded pass. `again` asks for the next one at once. The signal is the loop's own: a turn that waits passes it on. */
  readonly turn: (signal: AbortSignal) => Promise<'again' | void>;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EngineEvents;
  /** Ends the loop: at once while it pauses, else after the turn that is under way. */
  readonly signal: AbortSignal;
}

/** First pause after a failed turn; doubles with each further failure in a row. Milliseconds. */
const FIRST_BACKOFF_MS = 250;

/** The least that the longest backoff can be: a loop that turns often is spared a database that is down. Milliseconds. */
const MIN_LONGEST_BACKOFF_MS = 5_000;

/** Share by which a pause is longer or shorter than asked, so that many processes do not turn in step. */
const JITTER = 0.1;

/**
 * Turns until the signal aborts; two turns never overlap. An error ends nothing: it is an event and lengthens the pause
 * until a turn succeeds again. A turn that failed is a turn all the same: `loop-turned` says that the loop lives, so that
 * nobody restarts a process because its database is away.
 *
 * Never rejects. Resolves when no turn is under way any more.
 */
export async function runLoop(spec: LoopSpec): Promise<void> {
  let failuresInRow = 0;
  while (!spec.signal.aborted) {
    const outcome = await turnOnce(spec);
    failuresInRow = outcome === 'failed' ? failuresInRow + 1 : 0;
    if (outcome === 'again') continue;
    await spec.clock.sleep(pauseMs(spec, failuresInRow), spec.signal);
  }
}

async function turnOnce({ name, turn, events, signal }: LoopSpec): Promise<'again' | 'failed' | void> {
  try {
    return await turn(signal);
  } catch (error) {
    events.emit({ kind: 'loop-failed', loop: name, error });
    return 'failed';
  } finally {
    events.emit({ kind: 'loop-turned', loop: name });
  }
}

function pauseMs({ everyMs, random }: LoopSpec, failuresInRow: number): number {
  const wantedMs = typeof everyMs === 'number' ? everyMs : everyMs();
  const baseMs = failuresInRow === 0 ? wantedMs : backoffMs(wantedMs, failuresInRow, random);
  return Math.round(baseMs * (1 - JITTER + 2 * JITTER * random.next()));
}

function backoffMs(everyMs: number, failuresInRow: number, random: Random): number {
  const maxMs = Math.max(everyMs, MIN_LONGEST_BACKOFF_MS);
  const policy = { kind: 'exponential', baseMs: FIRST_BACKOFF_MS, factor: 2, maxMs, jitter: 'none' } as const;
  return retryDelayMs(policy, failuresInRow, Infinity, random) ?? maxMs;
}
