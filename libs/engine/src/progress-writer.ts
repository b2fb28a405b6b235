import { unstorableReason } from '@deadman/domain';
import type { Clock, EngineEvents, JobStore, ProgressUpdate } from '@deadman/domain';
import { utf8Bytes } from './attempt-result.js';
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
 */
export class ProgressWriter {
  readonly #deps: ProgressWriterDeps;
  readonly #everyMs: number;
  #latest = new Map<string, ProgressUpdate>();
  #isDue = false;
  #writing: Promise<void> = Promise.resolve();

  /** @param everyMs time between two writes. Milliseconds. */
  constructor(deps: ProgressWriterDeps, everyMs: number) {
    this.#deps = deps;
    this.#everyMs = everyMs;
  }

  /** @throws TypeError when the value cannot be written as JSON or is too long: a mistake of the handler. */
  record(run: Run, value: unknown): void {
    if (run.phase !== 'running') return;
    const { jobId, attempt, token } = run.lease;
    this.#latest.set(run.key, { jobId, attempt, token, value: progressText(value) });
    this.#schedule();
  }

  /** Writes the last word of a run before its claim ends, when it said anything since the last write. */
  async finish(run: Run): Promise<void> {
    if (this.#latest.has(run.key)) await this.flush();
  }

  /** Writes what is there. Resolves when it is stored or dropped. */
  async flush(): Promise<void> {
    const updates = [...this.#latest.values()];
    this.#latest = new Map();
    if (updates.length > 0) this.#writing = this.#write(updates);
    await this.#writing;
  }

  #schedule(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#deps.clock.setTimer(this.#everyMs, () => {
      this.#isDue = false;
      void this.flush();
    });
  }

  async #write(updates: readonly ProgressUpdate[]): Promise<void> {
    await this.#deps.store
      .saveProgress(updates)
      .catch((error: unknown) => this.#deps.events.emit({ kind: 'loop-failed', loop: 'progress', error }));
  }
}

function progressText(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError('Progress must be a value that JSON can hold');
  if (unstorableReason(text) !== null) throw new TypeError('Progress must be text that can be stored');
  const bytes = utf8Bytes(text);
  if (bytes > MAX_PROGRESS_BYTES)
    throw new TypeError(`Progress has ${bytes} bytes, at most ${MAX_PROGRESS_BYTES} are kept`);
  return text;
}
