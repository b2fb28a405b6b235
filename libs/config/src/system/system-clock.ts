import { Clock } from '@deadman/domain';
import type { Timer } from '@deadman/domain';

/** The longest delay of Node's timers; they fire at once when given a longer one. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export interface SystemClockOptions {
  /** Whether a timer that waits keeps the process running. Default true: a loop that sleeps is work to come. */
  readonly keepsProcessAlive?: boolean;
}

/** The clock of this machine. */
export class SystemClock extends Clock {
  readonly #keepsProcessAlive: boolean;

  constructor({ keepsProcessAlive = true }: SystemClockOptions = {}) {
    super();
    this.#keepsProcessAlive = keepsProcessAlive;
  }

  /** The same in every thread of this process: `performance.now` counts from the start of its thread. */
  override monotonicMs(): number {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1_000 + nanoseconds / 1e6;
  }

  override now(): Date {
    return new Date();
  }

  /** Throws a RangeError for a delay that Node would cut to a millisecond. */
  override setTimer(delayMs: number, callback: () => void): Timer {
    if (!(delayMs >= 0 && delayMs <= MAX_DELAY_MS)) throw new RangeError(`A timer cannot wait ${delayMs} ms`);
    const timeout = setTimeout(callback, delayMs);
    if (!this.#keepsProcessAlive) timeout.unref();
    return { cancel: () => clearTimeout(timeout) };
  }
}
