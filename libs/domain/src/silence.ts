/**
 * For how long somebody has been silent, as far as the listener was awake to hear: one that was frozen itself, or blocked,
 * has missed what was said meanwhile and must not hold it against the other.
 */
export class Silence {
  readonly #everyMs: number;
  #lookedAtMs: number;
  #silentMs = 0;

  /** @param everyMs how often the listener means to look. A longer gap between two looks counts as twice that. */
  constructor(nowMs: number, everyMs: number) {
    this.#lookedAtMs = nowMs;
    this.#everyMs = everyMs;
  }

  /** The other one gave a sign of life. */
  broken(): void {
    this.#silentMs = 0;
  }

  /** Milliseconds of silence until now, monotonic. */
  look(nowMs: number): number {
    this.#silentMs += Math.min(nowMs - this.#lookedAtMs, 2 * this.#everyMs);
    this.#lookedAtMs = nowMs;
    return this.#silentMs;
  }
}
