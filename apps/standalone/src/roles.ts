import type { Clock, EngineEvents, Random, StoreNotices } from '@deadman/domain';
import { runLoop } from '@deadman/engine';
import type { DeadLetterRecorder, LoopSpec, Promoter, Reaper, Relay, Retention, Worker } from '@deadman/engine';

export interface RolesDeps {
  readonly worker: Worker;
  readonly reaper: Reaper;
  readonly promoter: Promoter;
  readonly relay: Relay;
  readonly retention: Retention;
  readonly recorder: DeadLetterRecorder;
  readonly notices: StoreNotices;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EngineEvents;
}

/** Pauses between the turns of the loops that are in no hurry. Milliseconds; guesses. */
const EVERY_MS = { relay: 1_000, retention: 60_000, gauges: 10_000 };

export interface RolesOptions {
  /** Time between two scans for dead workers, and between two for due jobs. Milliseconds. */
  readonly scanMs: number;
  /** Samples, for the metrics, what only the store knows. */
  readonly sampleGauges: () => Promise<void>;
}

/** Everything that works without being asked: the worker, the loops of the reaper, and the recorder of dead letters. */
export class Roles {
  readonly #deps: RolesDeps;
  readonly #options: RolesOptions;
  readonly #ending = new AbortController();
  #loops: readonly Promise<void>[] = [];
  #listening: { unsubscribe(): Promise<void> } | null = null;

  constructor(deps: RolesDeps, options: RolesOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** The worker's slots for handlers. */
  get slots(): { readonly capacity: number; readonly busy: number } {
    const { slots, busySlots } = this.#deps.worker;
    return { capacity: slots, busy: busySlots };
  }

  /** Throws what subscribing to the transport throws. */
  async start(): Promise<void> {
    const { recorder, worker } = this.#deps;
    await recorder.start();
    this.#loops = this.#specs().map((spec) => runLoop({ ...this.#deps, ...spec, signal: this.#ending.signal }));
    await this.#listen();
    await worker.start();
  }

  /** Lets the worker finish or hand back all it holds. `hurry` cuts the waiting short when it aborts. */
  drain(hurry: AbortSignal): Promise<void> {
    return this.#deps.worker.drain(hurry);
  }

  /** Ends the loops after the turn that is under way. What they leave is in the store. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#listening?.unsubscribe();
    await Promise.all(this.#loops);
    await this.#deps.recorder.stop();
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

  /** A notice only hurries what happens anyway: a beat tells of a cancel, and a scan of what is due. */
  async #listen(): Promise<void> {
    const { notices, worker, promoter } = this.#deps;
    this.#listening = await notices.subscribe((notice) => {
      if (notice.kind === 'cancel') worker.cancel(notice.jobIds);
      else promoter.nudge();
    });
  }
}
