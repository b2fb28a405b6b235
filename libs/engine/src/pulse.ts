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
    if (!this.#isPending && !signal.aborted) {
      const woken = new AbortController();
      const stop = (): void => woken.abort();
      this.#wake = stop;
      signal.addEventListener('abort', stop, { once: true });
      await clock.sleep(maxMs, woken.signal);
      signal.removeEventListener('abort', stop);
      this.#wake = null;
    }
    this.#isPending = false;
  }
}
