import { retryDelayMs } from '@deadman/domain';
import type { Clock, ExponentialBackoff, Random } from '@deadman/domain';

const BACKOFF: ExponentialBackoff = { kind: 'exponential', baseMs: 100, factor: 2, maxMs: 5_000, jitter: 'equal' };

/** The pauses of a receiver whose handler refuses what it is given: 100 ms, doubling to 5 s, until it takes something. */
export class RefusalBackoff {
  readonly #clock: Clock;
  readonly #random: Random;
  #failures = 0;
  #readyAtMs = 0;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Returns the pause. Milliseconds. */
  refused(): number {
    this.#failures += 1;
    const pauseMs = retryDelayMs(BACKOFF, this.#failures, Infinity, this.#random) ?? BACKOFF.maxMs;
    this.#readyAtMs = this.#clock.monotonicMs() + pauseMs;
    return pauseMs;
  }

  taken(): void {
    this.#failures = 0;
  }

  whenReady(signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(Math.max(0, this.#readyAtMs - this.#clock.monotonicMs()), signal);
  }
}
