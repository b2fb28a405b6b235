import type { Clock } from '@deadman/domain';

/** Time over which a change of pace is believed. Milliseconds. */
const WINDOW_MS = 1_000;
/** Shortest time over which a pace can be told. Milliseconds. */
const SAMPLE_MS = 100;

/** How many runs end per second, as a moving average. Bounds how far ahead a worker claims. */
export class FinishRate {
  readonly #clock: Clock;
  #perSecond = 0;
  #finished = 0;
  #sampledAtMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sampledAtMs = clock.monotonicMs();
  }

  count(): void {
    this.#finished += 1;
  }

  perSecond(): number {
    const elapsedMs = this.#clock.monotonicMs() - this.#sampledAtMs;
    if (elapsedMs >= SAMPLE_MS) this.#sample(elapsedMs);
    return this.#perSecond;
  }

  /** Exponential moving average whose weight is the share of the window that the sample covers. */
  #sample(elapsedMs: number): void {
    const weight = Math.min(1, elapsedMs / WINDOW_MS);
    this.#perSecond += weight * ((this.#finished * 1_000) / elapsedMs - this.#perSecond);
    this.#finished = 0;
    this.#sampledAtMs += elapsedMs;
  }
}
