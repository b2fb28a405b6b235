/** Wakes one waiting loop. A ring that nobody waits for is kept, and several are kept as one. */
export class Bell {
  #hasRung = false;
  #wake: (() => void) | null = null;

  ring(): void {
    this.#hasRung = true;
    this.#wake?.();
  }

  /** Resolves at the next ring, or at once after one that was missed. */
  async wait(): Promise<void> {
    if (!this.#hasRung) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#hasRung = false;
    this.#wake = null;
  }
}

/** Ends the current turn of the event loop: no consumer may starve the process, and no message arrives before its sender goes on. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
