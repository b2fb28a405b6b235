import type { Clock, EngineEvents, JobStore, ProgressUpdate, Timer } from '@deadman/domain';
import { jsonText } from './json-text.js';
import type { Run } from './run.js';

/** The longest progress value, in bytes of UTF-8. */
export const MAX_PROGRESS_BYTES = 16_384;

export interface ProgressWriterDeps {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly events: EngineEvents;
}

/**
 * Stores the latest progress of each run, at most once a period for all of them together: a handler may report as often
 * as it likes. Progress is for people to look at, so one that cannot be written is dropped, never waited for.
 *
 * One write at a time, so that an older value cannot overtake a newer one.
 */
export class ProgressWriter {
  readonly #deps: ProgressWriterDeps;
  readonly #everyMs: number;
  #latest = new Map<string, ProgressUpdate>();
  /** What the write under way carries. */
  #underWay: ReadonlyMap<string, ProgressUpdate> = new Map();
  #written: Promise<void> = Promise.resolve();
  #timer: Timer | null = null;

  /** @param everyMs time between two writes. Milliseconds. */
  constructor(deps: ProgressWriterDeps, everyMs: number) {
    this.#deps = deps;
    this.#everyMs = everyMs;
  }

  /** @throws TypeError when the value cannot be written as JSON or is too long: a mistake of the handler. */
  record(run: Run, value: unknown): void {
    if (run.phase !== 'running') return;
    const { jobId, attempt, token } = run.lease;
    this.#latest.set(run.key, { jobId, attempt, token, value: jsonText('Progress', value, MAX_PROGRESS_BYTES) });
    this.#timer ??= this.#deps.clock.setTimer(this.#everyMs, () => void this.flush());
  }

  /** Resolves when the last word of a run is stored or dropped, which has to be before its claim ends. */
  async finish(run: Run): Promise<void> {
    if (this.#latest.has(run.key)) await this.flush();
    else if (this.#underWay.has(run.key)) await this.#written;
  }

  /** Writes what is there. Resolves when it is stored or dropped. */
  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#written = this.#written.then(() => this.#writeLatest());
    await this.#written;
  }

  /** Of several that wait for their turn the first one writes for all. */
  async #writeLatest(): Promise<void> {
    if (this.#latest.size === 0) return;
    this.#underWay = this.#latest;
    this.#latest = new Map();
    await this.#deps.store
      .saveProgress([...this.#underWay.values()])
      .catch((error: unknown) => this.#deps.events.emit({ kind: 'loop-failed', loop: 'progress', error }));
    this.#underWay = new Map();
  }
}
