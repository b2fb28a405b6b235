import type { Clock } from '@deadman/domain';

/** Wakes a loop that waits for something to change. Beats that nobody waits for are kept as one. */
export class Pulse {
  #wake: (() => void) | null = null;
  #isPending = false;

  beat(): void {
    this.#isPending = true;
    this.#wake?.();
  }

  /** Resolves at the next beat, after `maxMs`, or when `signal` is aborted. One waiter at a time. */
  async wait(maxMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (!this.#isPending && !signal.aborted) await this.#sleep(maxMs, clock, signal);
    this.#isPending = false;
  }

  /** Without an AbortController of its own: this happens for every job that ends, and an abort costs a stack trace. */
  #sleep(maxMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', wake);
        this.#wake = null;
        resolve();
      };
      const timer = clock.setTimer(maxMs, wake);
      signal.addEventListener('abort', wake, { once: true });
      this.#wake = wake;
    });
  }
}
