import type { EngineEvents } from '@deadman/domain';
import type { HeartWord } from './heart.js';
import type { RunLedger } from './run-ledger.js';

/**
 * Does to the runs of a worker what its heart says of them. A word may be a moment old, so it counts only for what the
 * worker still holds, and never against an outcome that is already on its way.
 */
export class RunGuard {
  readonly #ledger: RunLedger;
  readonly #events: EngineEvents;

  constructor(ledger: RunLedger, events: EngineEvents) {
    this.#ledger = ledger;
    this.#events = events;
  }

  lose({ key, reason }: Extract<HeartWord, { kind: 'run-lost' }>): void {
    const run = this.#ledger.get(key);
    if (run === undefined || run.isLost || (run.phase !== 'queued' && run.phase !== 'running')) return;
    const { jobId, attempt } = run.lease;
    const { type, queue } = run.job;
    this.#events.emit({ kind: 'run-lost', reason, jobId, type, queue, attempt });
    run.lose();
  }

  cancel(keys: readonly string[]): void {
    for (const key of keys) this.#ledger.get(key)?.abort('cancelled');
  }
}
