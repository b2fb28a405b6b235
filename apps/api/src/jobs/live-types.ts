import type { Clock, WorkerRegistry } from '@deadman/domain';

export interface LiveTypesOptions {
  /** A worker seen within this counts as alive. Milliseconds, default 30 000: the lease TTL. */
  readonly liveWithinMs: number;
  /** Time between two looks. Milliseconds, default 2 000. */
  readonly refreshMs: number;
}

export const DEFAULT_LIVE_TYPES: LiveTypesOptions = { liveWithinMs: 30_000, refreshMs: 2_000 };

/**
 * The types that some live worker has a handler for, looked up in the background so that no request waits for it. While
 * nothing is known, at the start and when the registry cannot be read, no type is called unknown: a warning that is not
 * true is worse than none.
 */
export class LiveTypes {
  readonly #registry: WorkerRegistry;
  readonly #clock: Clock;
  readonly #options: LiveTypesOptions;
  #types: ReadonlySet<string> | null = null;
  #stop: AbortController | null = null;
  #loop: Promise<void> = Promise.resolve();

  constructor(registry: WorkerRegistry, clock: Clock, options: Partial<LiveTypesOptions> = {}) {
    this.#registry = registry;
    this.#clock = clock;
    this.#options = { ...DEFAULT_LIVE_TYPES, ...options };
  }

  /** Resolves after the first look. */
  async start(): Promise<void> {
    const stop = new AbortController();
    this.#stop = stop;
    await this.refresh();
    this.#loop = this.#keepLooking(stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop?.abort();
    await this.#loop;
  }

  async refresh(): Promise<void> {
    try {
      this.#types = await this.#registry.liveTypes(this.#options.liveWithinMs);
    } catch {
      this.#types = null;
    }
  }

  /** Whether it is certain that no live worker runs jobs of this type. */
  isUnserved(type: string): boolean {
    return this.#types !== null && !this.#types.has(type);
  }

  async #keepLooking(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#clock.sleep(this.#options.refreshMs, signal);
      if (signal.aborted) return;
      await this.refresh();
    }
  }
}
