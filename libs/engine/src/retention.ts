import type { EngineEvents, JobStore, PurgeRequest } from '@deadman/domain';

export interface RetentionDeps {
  readonly store: JobStore;
  readonly events: EngineEvents;
}

export type RetentionOptions = PurgeRequest;

const DAY_MS = 86_400_000;

/** `protocol.md` §13. A worker's row is a sign of life; a day after the last one nobody asks any more. */
const DEFAULTS: RetentionOptions = {
  finishedKeptMs: 7 * DAY_MS,
  deadKeptMs: 90 * DAY_MS,
  keyKeptMs: 7 * DAY_MS,
  workerKeptMs: DAY_MS,
  limit: 500,
};

/** Deletes what ended long ago. Nothing that waits is ever deleted. */
export class Retention {
  readonly #deps: RetentionDeps;
  readonly #options: RetentionOptions;

  constructor(deps: RetentionDeps, options: Partial<RetentionOptions> = {}) {
    this.#deps = deps;
    this.#options = { ...DEFAULTS, ...options };
  }

  /** Deletes one batch. `again` when it was full. */
  async turn(): Promise<'again' | void> {
    const purged = await this.#deps.store.purge(this.#options);
    if (purged.jobs > 0) this.#deps.events.emit({ kind: 'jobs-purged', jobs: purged.jobs });
    if (Math.max(purged.jobs, purged.keys, purged.workers) >= this.#options.limit) return 'again';
  }
}
