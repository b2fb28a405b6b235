import { Clock } from '@deadman/domain';
import type { Timer } from '@deadman/domain';

/** The time that passes, for the engine's tests on real servers: the engine itself may know no clock. */
export class RealClock extends Clock {
  override monotonicMs(): number {
    return performance.now();
  }

  override now(): Date {
    return new Date();
  }

  override setTimer(delayMs: number, callback: () => void): Timer {
    const timeout = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(timeout) };
  }
}
