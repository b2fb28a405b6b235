/** A timer that was set and may be taken back. */
export interface Timer {
  /** Does nothing when the timer has fired or was cancelled before. */
  cancel(): void;
}

/** The only source of time and of waiting for domain and engine, so that a simulation can run both on a virtual clock. */
export abstract class Clock {
  /** Milliseconds from an arbitrary start; never goes back. For ages and deadlines. */
  abstract monotonicMs(): number;

  /** The wall clock. For what people read; decides nothing. */
  abstract now(): Date;

  /** Calls `callback` once, `delayMs` (0 to 2^31 − 1) from now. The callback must not throw. */
  abstract setTimer(delayMs: number, callback: () => void): Timer;

  /** Resolves after `delayMs`, or as soon as `signal` is aborted. Never rejects. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = (): void => {
        timer.cancel();
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = this.setTimer(delayMs, wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }
}
