import type { StoreNotices } from '@deadman/domain';
import type { DeadLetterRecorder, Worker } from '@deadman/engine';
import type { ReaperLoops } from '@deadman/service-host';

export interface RolesDeps {
  readonly worker: Worker;
  readonly reaping: ReaperLoops;
  readonly recorder: DeadLetterRecorder;
  readonly notices: StoreNotices;
}

/** Everything that works without being asked: the worker, the loops of the reaper, and the recorder of dead letters. */
export class Roles {
  readonly #deps: RolesDeps;
  #listening: { unsubscribe(): Promise<void> } | null = null;

  constructor(deps: RolesDeps) {
    this.#deps = deps;
  }

  /** The worker's slots for handlers. */
  get slots(): { readonly capacity: number; readonly busy: number } {
    const { slots, busySlots } = this.#deps.worker;
    return { capacity: slots, busy: busySlots };
  }

  /** Throws what subscribing to the transport throws. */
  async start(): Promise<void> {
    const { recorder, reaping, worker } = this.#deps;
    await recorder.start();
    await reaping.start();
    await this.#listen();
    await worker.start();
  }

  /**
   * Lets the worker finish or hand back all it holds, and returns how many jobs it could do neither with. `hurry` cuts the
   * waiting short when it aborts.
   */
  drain(hurry: AbortSignal): Promise<number> {
    return this.#deps.worker.drain(hurry);
  }

  /** Ends the loops after the turn that is under way. What they leave is in the store. */
  async stop(): Promise<void> {
    await this.#listening?.unsubscribe();
    await this.#deps.reaping.stop();
    await this.#deps.recorder.stop();
  }

  /** A notice only hurries what happens anyway: a beat tells of a cancel, too. */
  async #listen(): Promise<void> {
    const { notices, worker } = this.#deps;
    this.#listening = await notices.subscribe((notice) => {
      if (notice.kind === 'cancel') worker.cancel(notice.claims);
    });
  }
}
