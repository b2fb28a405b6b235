const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export type StopSignal = (typeof SIGNALS)[number];

/**
 * The signals that ask for an end: the first one begins it, a second one skips the waiting in it. They are handled here and
 * not by Nest, which raises the signal again once it is done, so that a clean end would look like a cut-off one.
 */
export class StopSignals {
  readonly #stopped = new AbortController();
  readonly #hurry = new AbortController();
  readonly first: Promise<StopSignal>;

  constructor(source: NodeJS.EventEmitter = process) {
    this.first = new Promise((resolve) => {
      const onSignal = (signal: StopSignal): void => {
        if (this.#stopped.signal.aborted) this.#hurry.abort();
        this.#stopped.abort();
        resolve(signal);
      };
      for (const signal of SIGNALS) source.on(signal, () => onSignal(signal));
    });
  }

  /** Aborts at the first signal. */
  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Aborts at the second signal. */
  get hurry(): AbortSignal {
    return this.#hurry.signal;
  }
}
