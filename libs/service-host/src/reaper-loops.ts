import type { Clock, EngineEvents, Random, StoreNotices } from '@deadman/domain';
import { runLoop } from '@deadman/engine';
import type { LoopSpec, Promoter, Reaper, Relay, Retention } from '@deadman/engine';

export interface ReaperLoopsDeps {
  readonly reaper: Reaper;
  readonly promoter: Promoter;
  readonly relay: Relay;
  readonly retention: Retention;
  readonly notices: StoreNotices;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EngineEvents;
}

export interface ReaperLoopsOptions {
  /** Time between two scans for dead workers, and between two for due jobs. Milliseconds. */
  readonly scanMs: number;
  /** Samples, for the metrics, what only the store knows. */
  readonly sampleGauges: () => Promise<void>;
}

/** Pauses between the turns of the loops that are in no hurry. Milliseconds; guesses. */
const EVERY_MS = { relay: 1_000, retention: 60_000, gauges: 10_000 };

/** Everything that a reaper does without being asked. */
export class ReaperLoops {
  readonly #deps: ReaperLoopsDeps;
  readonly #options: ReaperLoopsOptions;
  readonly #ending = new AbortController();
  #loops: readonly Promise<void>[] = [];
  #listening: { unsubscribe(): Promise<void> } | null = null;

  constructor(deps: ReaperLoopsDeps, options: ReaperLoopsOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  async start(): Promise<void> {
    const { notices, promoter } = this.#deps;
    this.#loops = this.#specs().map((spec) => runLoop({ ...this.#deps, ...spec, signal: this.#ending.signal }));
    // A notice only hurries what a scan finds anyway.
    this.#listening = await notices.subscribe(({ kind }) => {
      if (kind === 'due') promoter.nudge();
    });
  }

  /** Ends the loops after the turn that is under way. What they leave is in the store. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#listening?.unsubscribe();
    await Promise.all(this.#loops);
  }

  #specs(): readonly Pick<LoopSpec, 'name' | 'everyMs' | 'turn'>[] {
    const { reaper, promoter, relay, retention } = this.#deps;
    const { scanMs, sampleGauges } = this.#options;
    return [
      { name: 'reaper', everyMs: scanMs, turn: () => reaper.turn() },
      { name: 'promoter', everyMs: scanMs, turn: () => promoter.turn() },
      { name: 'wake-up', everyMs: 0, turn: (signal) => promoter.wakeTurn(signal) },
      { name: 'relay', everyMs: EVERY_MS.relay, turn: () => relay.turn() },
      { name: 'retention', everyMs: EVERY_MS.retention, turn: () => retention.turn() },
      { name: 'gauges', everyMs: EVERY_MS.gauges, turn: sampleGauges },
    ];
  }
}
