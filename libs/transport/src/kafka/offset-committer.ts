import type { Clock } from '@deadman/domain';
import type { Offsets } from 'kafkajs';
import type { KafkaTransportListener } from './kafka-transport-listener.js';
import type { OffsetLedger } from './offset-ledger.js';

/** Sends one commit, once, with the name of the generation that its consumer is in when it is called. */
export type CommitOffsets = (offsets: Offsets) => Promise<void>;

export interface OffsetCommitterDeps {
  readonly topic: string;
  readonly ledger: OffsetLedger;
  readonly clock: Clock;
  readonly listener: KafkaTransportListener;
}

/**
 * Commits what the ledger says, every so often. A commit that fails is not repeated: the next one says the same and more.
 *
 * kafkajs's own `commitOffsets` does repeat, by then with the next generation's name on the old generation's offsets (its
 * issue #1046), so that the function of a batch is used, which does not.
 */
export class OffsetCommitter {
  readonly #deps: OffsetCommitterDeps;
  readonly #everyMs: number;
  #commitOffsets: CommitOffsets | null = null;
  #committing: Promise<void> | null = null;
  #isJoined = false;
  #isStopped = false;

  constructor(deps: OffsetCommitterDeps, everyMs: number) {
    this.#deps = deps;
    this.#everyMs = everyMs;
  }

  start(): void {
    this.#deps.clock.setTimer(this.#everyMs, () => {
      if (this.#isStopped) return;
      void this.commit().then(() => this.start());
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** What to commit through from now on. There is nothing to commit before the first batch. */
  use(commitOffsets: CommitOffsets): void {
    this.#commitOffsets = commitOffsets;
  }

  joined(): void {
    this.#isJoined = true;
  }

  /**
   * The group is about to join again, and this is the last moment at which the old generation may commit: the coordinator
   * waits until all its members have joined.
   */
  leaving(): void {
    void this.#commitNow();
    this.#isJoined = false;
  }

  /**
   * Commits in a turn of the event loop of its own. kafkajs takes on a new generation and tells of it a few promises
   * later, all in one turn; a commit in between would carry the new generation's name and the old one's offsets.
   */
  commit(): Promise<void> {
    this.#committing ??= new Promise<void>((resolve) => {
      setImmediate(() => resolve(this.#isJoined ? this.#commitNow() : undefined));
    }).finally(() => (this.#committing = null));
    return this.#committing;
  }

  async #commitNow(): Promise<void> {
    const { topic, ledger, clock, listener } = this.#deps;
    const plan = ledger.plan(clock.monotonicMs());
    if (plan.offsets.length === 0 || this.#commitOffsets === null) return;
    const partitions = plan.offsets.map(({ partition, offset }) => ({ partition, offset: offset.toString() }));
    try {
      await this.#commitOffsets({ topics: [{ topic, partitions }] });
      ledger.confirm(plan);
      const offsets = new Map(plan.offsets.map(({ partition, offset }) => [partition, offset]));
      listener.on({ kind: 'offsets-committed', topic, offsets });
    } catch (error) {
      listener.on({ kind: 'commit-failed', topic, error });
    }
  }
}
