import type { Run } from './run.js';

/** N handler slots and the claimed runs that wait for one, oldest first. */
export class RunPool {
  readonly #slots: number;
  readonly #execute: (run: Run) => Promise<void>;
  readonly #onFree: () => void;
  readonly #active = new Set<Run>();
  #queued: Run[] = [];
  #isStopped = false;
  #onIdle: (() => void)[] = [];

  /**
   * @param execute runs the handler; its slot is free again when it resolves. Must not reject.
   * @param onFree called whenever a slot became free.
   */
  constructor(slots: number, execute: (run: Run) => Promise<void>, onFree: () => void) {
    this.#slots = slots;
    this.#execute = execute;
    this.#onFree = onFree;
  }

  get active(): number {
    return this.#active.size;
  }

  get queued(): number {
    return this.#queued.length;
  }

  add(runs: readonly Run[]): void {
    this.#queued.push(...runs);
    this.#fill();
  }

  /** Removes and returns queued runs that `isUnwanted`, for the caller to hand back. */
  withdraw(isUnwanted: (run: Run) => boolean): readonly Run[] {
    const withdrawn: Run[] = [];
    const kept: Run[] = [];
    // Each is asked once: the answer may hang on the clock, and a run that changes sides would be in neither list.
    for (const run of this.#queued) (isUnwanted(run) ? withdrawn : kept).push(run);
    this.#queued = kept;
    return withdrawn;
  }

  /** What is queued does not start any more; what runs goes on. */
  stop(): void {
    this.#isStopped = true;
  }

  activeRuns(): readonly Run[] {
    return [...this.#active];
  }

  abortActive(reason: Parameters<Run['abort']>[0]): void {
    for (const run of this.#active) run.abort(reason);
  }

  /** Resolves when no slot is in use. */
  async idle(): Promise<void> {
    if (this.#active.size === 0) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #fill(): void {
    while (!this.#isStopped && this.#active.size < this.#slots) {
      const run = this.#queued.shift();
      if (run === undefined) return;
      void this.#occupy(run);
    }
  }

  async #occupy(run: Run): Promise<void> {
    this.#active.add(run);
    try {
      await this.#execute(run);
    } finally {
      this.#active.delete(run);
      this.#fill();
      this.#onFree();
      if (this.#active.size === 0) this.#announceIdle();
    }
  }

  #announceIdle(): void {
    const listeners = this.#onIdle;
    this.#onIdle = [];
    for (const listener of listeners) listener();
  }
}
