import type { Clock, EngineEvents } from '@deadman/domain';
import type { Heart, HeartWord } from './heart.js';
import type { RunLedger } from './run-ledger.js';
import type { Run } from './run.js';

export interface RunGuardDeps {
  readonly ledger: RunLedger;
  readonly heart: Pick<Heart, 'beat'>;
  readonly clock: Clock;
  readonly events: EngineEvents;
}

/**
 * Does to the runs of a worker what its heart says of them. A word may be a moment old, so it counts only for what the
 * worker still holds, and never against an outcome that is already on its way.
 */
export class RunGuard {
  readonly #deps: RunGuardDeps;
  readonly #ttlMs: number;
  #asking: Promise<void> | null = null;

  /** @param ttlMs age of the last good renewal from which on another worker may have the job. */
  constructor(deps: RunGuardDeps, ttlMs: number) {
    this.#deps = deps;
    this.#ttlMs = ttlMs;
  }

  vouch({ keys, sentAtMs }: Extract<HeartWord, { kind: 'runs-vouched' }>): void {
    for (const key of keys) this.#deps.ledger.get(key)?.vouch(sentAtMs);
  }

  lose({ key, reason }: Pick<Extract<HeartWord, { kind: 'run-lost' }>, 'key' | 'reason'>): void {
    const run = this.#deps.ledger.get(key);
    if (run === undefined || run.isLost || (run.phase !== 'queued' && run.phase !== 'running')) return;
    const { jobId, attempt } = run.lease;
    const { type, queue } = run.job;
    this.#deps.events.emit({ kind: 'run-lost', reason, jobId, type, queue, attempt });
    run.lose();
  }

  cancel(keys: readonly string[]): void {
    for (const key of keys) this.#deps.ledger.get(key)?.abort('cancelled');
  }

  /**
   * Whether the run may do now what cannot be taken back, judged by the monotonic clock (`protocol.md` §6): a worker that
   * stood still must not go on as if nothing had happened, whatever has reached it yet of what its heart found out. One
   * that was only busy asks its heart, and goes on when that has vouched for the run meanwhile.
   */
  async mayFire(run: Run): Promise<boolean> {
    if (this.#isStale(run)) await this.#ask();
    if (this.#isStale(run)) this.lose({ key: run.key, reason: 'stale' });
    return run.phase === 'running' && !run.isLost;
  }

  #isStale(run: Run): boolean {
    return run.isStale(this.#deps.clock.monotonicMs(), this.#ttlMs);
  }

  /** One beat answers for all who ask meanwhile. */
  async #ask(): Promise<void> {
    this.#asking ??= this.#deps.heart.beat().finally(() => (this.#asking = null));
    await this.#asking;
  }
}
