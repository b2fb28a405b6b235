import type { Clock, DeathHandler, DeathNotice, Subscription } from '@deadman/domain';
import { Bell, nextTurn } from './bell.js';
import type { BoundedLog } from './bounded-log.js';

/** Deaths that a handler gets at once. */
const DEATHS_PER_BATCH = 100;

export interface DeathDeliveryOptions {
  readonly log: BoundedLog<DeathNotice>;
  readonly handler: DeathHandler;
  readonly clock: Clock;
  /** Pause after the first failure of a batch; doubles with each further one. Milliseconds. */
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
}

/** Hands deaths to one handler, batch after batch in order, and the same batch again while the handler throws. */
export class DeathDelivery implements Subscription {
  readonly #options: DeathDeliveryOptions;
  readonly #bell = new Bell();
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: DeathDeliveryOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Says that the log may have something new. */
  wake(): void {
    this.#bell.ring();
  }

  /** Stops after the batch that the handler is busy with. A batch that failed goes back to the log. */
  async pause(): Promise<void> {
    this.#stopping.abort();
    this.#bell.ring();
    await this.#running;
  }

  /** The same: a handler that has returned leaves nothing that is held for it. */
  close(): Promise<void> {
    return this.pause();
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    await nextTurn();
    while (!this.#stopping.signal.aborted) {
      if (log.size === 0) await this.#bell.wait();
      else await this.#handle(log.take(DEATHS_PER_BATCH));
      await nextTurn();
    }
  }

  async #handle(batch: readonly DeathNotice[]): Promise<void> {
    const { log, clock } = this.#options;
    for (let failures = 0; !(await this.#isHandled(batch)); failures += 1) {
      await clock.sleep(this.#backoffMs(failures), this.#stopping.signal);
      if (this.#stopping.signal.aborted) return log.putBack(batch);
    }
  }

  async #isHandled(batch: readonly DeathNotice[]): Promise<boolean> {
    try {
      await this.#options.handler(batch);
      return true;
    } catch {
      return false;
    }
  }

  #backoffMs(failures: number): number {
    const { backoffBaseMs, backoffMaxMs } = this.#options;
    return Math.min(backoffMaxMs, backoffBaseMs * 2 ** Math.min(failures, 30));
  }
}
