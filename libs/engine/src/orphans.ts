import type { Belief, Clock, EngineEvents, JobStore } from '@deadman/domain';
import type { RunLedger } from './run-ledger.js';
import { Run, runKey } from './run.js';
import type { Settler } from './settler.js';
import { UnderWay } from './under-way.js';

export interface OrphansDeps {
  readonly store: Pick<JobStore, 'findClaimed'>;
  readonly ledger: RunLedger;
  readonly settler: Pick<Settler, 'settle'>;
  readonly clock: Clock;
  readonly events: EngineEvents;
}

/**
 * Gives claims back whose reply was lost, so that their jobs do not wait for a lapse (`protocol.md` §6). The heart finds
 * them, beat by beat; a token is asked about once at a time.
 */
export class Orphans {
  readonly #deps: OrphansDeps;
  /** Of the claims that are being given back. */
  readonly #tokens = new Set<string>();
  readonly #releasing = new UnderWay();

  constructor(deps: OrphansDeps) {
    this.#deps = deps;
  }

  /** The store believes these claims to be held here, and the heart knows of none. */
  found(beliefs: readonly Belief[]): void {
    void this.#releasing.track(this.#release(beliefs));
  }

  /** Resolves when none is being given back. Never rejects. */
  released(): Promise<void> {
    return this.#releasing.settled();
  }

  async #release(beliefs: readonly Belief[]): Promise<void> {
    const tokens = new Set(beliefs.map(({ token }) => token).filter((token) => !this.#tokens.has(token)));
    for (const token of tokens) {
      this.#tokens.add(token);
      await this.#releaseOf(token).catch((error: unknown) =>
        this.#deps.events.emit({ kind: 'loop-failed', loop: 'release-orphans', error }),
      );
      this.#tokens.delete(token);
    }
  }

  /**
   * Resolves when they are released, so that the next beat does not take them for orphans once more. Whether they are
   * orphans is judged by what was held before the store is asked: a claim whose reply is out may still bring them, and
   * what is settled meanwhile was none.
   */
  async #releaseOf(token: string): Promise<void> {
    const { store, ledger, settler, clock, events } = this.#deps;
    if (ledger.isClaiming(token)) return;
    const held = new Set(ledger.runs().map(({ key }) => key));
    const claimed = await store.findClaimed(token);
    const orphans = claimed.filter(({ id }) => !held.has(runKey({ jobId: id, token })));
    await Promise.all(
      orphans.map((job) => {
        events.emit({ kind: 'orphan-released', jobId: job.id, attempt: job.attempt });
        const released = { kind: 'release', reason: 'orphan-claim', startedAfterMs: null } as const;
        return settler.settle(new Run(job, clock.monotonicMs()), released);
      }),
    );
  }
}
