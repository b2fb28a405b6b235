import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, JobRequest } from './client.js';
import type { ClientLedger } from './client-ledger.js';

export interface LoadOptions {
  readonly jobs: number;
  /** The job of that number, from 0. */
  readonly jobOf: (index: number) => JobRequest;
  readonly perBatch: number;
  /** Accepted jobs that have not ended, from which on the clients wait. */
  readonly window: number;
  /** Clients that hand in side by side. */
  readonly clients: number;
}

/** Pause between two looks whether there is room again. Milliseconds. */
const LOOK_EVERY_MS = 100;

/** Hands in a number of jobs as fast as a window of open ones allows, so that faults meet the submits too. */
export class Load {
  readonly #client: Client;
  readonly #ledger: ClientLedger;
  readonly #options: LoadOptions;
  readonly #ended: () => number;
  readonly #stop: AbortSignal;
  #next = 0;

  /** @param ended how many of the accepted have ended, as far as is known. @param stop ends it before its time. */
  constructor(client: Client, ledger: ClientLedger, ended: () => number, stop: AbortSignal, options: LoadOptions) {
    this.#client = client;
    this.#ledger = ledger;
    this.#ended = ended;
    this.#stop = stop;
    this.#options = options;
  }

  /** Resolves when all are accepted, or when it was stopped. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.clients }, () => this.#handIn()));
  }

  async #handIn(): Promise<void> {
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      await this.#untilRoom();
      const ids = await this.#client.submit(batch, this.#stop);
      if (ids === null) return;
      this.#ledger.add(ids);
    }
  }

  #take(): readonly JobRequest[] {
    const { jobs, jobOf, perBatch } = this.#options;
    const first = this.#next;
    this.#next = Math.min(jobs, first + perBatch);
    return Array.from({ length: this.#next - first }, (_, offset) => jobOf(first + offset));
  }

  async #untilRoom(): Promise<void> {
    const isFull = (): boolean => this.#ledger.accepted.length - this.#ended() >= this.#options.window;
    while (isFull() && !this.#stop.aborted) await sleep(LOOK_EVERY_MS);
  }
}
