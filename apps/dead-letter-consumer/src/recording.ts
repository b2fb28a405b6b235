import { runLoop } from '@deadman/engine';
import type { DeadLetterRecorder, LoopSpec } from '@deadman/engine';

/** Name of the loop whose turning shows that this process lives. */
export const RECORDING_LOOP = 'dead-letters';

/** Time between two turns. Milliseconds; a sample of how many letters there are is in no hurry. */
const EVERY_MS = 10_000;

export interface RecordingDeps extends Pick<LoopSpec, 'clock' | 'random' | 'events'> {
  readonly recorder: DeadLetterRecorder;
  /** Samples, for the metrics, what only the store knows. */
  readonly sampleGauges: () => Promise<void>;
}

/** Records deaths as they come in, and samples how many there are. */
export class Recording {
  readonly #deps: RecordingDeps;
  readonly #ending = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(deps: RecordingDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const { recorder, sampleGauges: turn } = this.#deps;
    const { signal } = this.#ending;
    this.#loop = runLoop({ ...this.#deps, name: RECORDING_LOOP, everyMs: EVERY_MS, turn, signal });
    await recorder.start();
  }

  /** Waits for the batch under way and leaves the group. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#deps.recorder.stop();
    await this.#loop;
  }
}
