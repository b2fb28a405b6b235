import { PartitionBook } from './partition-book.js';
import type { TrackedMessage } from './partition-book.js';

export interface OffsetLedgerOptions {
  /** How long one message may hold its partition's offset once all its jobs are claimed. Milliseconds. */
  readonly offsetHoldMs: number;
  /** Messages remembered per partition; beyond, the oldest hold it no longer, claimed or not. */
  readonly maxTracked: number;
}

/** What the ledger did that somebody may want to count. */
export interface OffsetLedgerListener {
  /** The last job of a message ended, or a commit was confirmed, after its partition had gone to a new generation. */
  staleDropped(count: number): void;
  /** Messages gave their offset free before they were settled. */
  offsetsLetGo(count: number): void;
}

/** How far each partition has come. Belongs to the generation it was taken in. */
export interface CommitPlan {
  readonly generation: number;
  readonly offsets: readonly { readonly partition: number; readonly offset: bigint }[];
}

/**
 * Decides which offsets of one topic may be committed (`protocol.md` §8): per partition, the one below which every message
 * is settled. A message that is not settled `offsetHoldMs` after the last of its jobs was claimed gives its offset free: the
 * claims are durable, and the reaper is their guard. One that nobody has claimed holds it however long that takes, since a
 * crash would leave its jobs to the idle claim; it waits in a bounded queue, so that `maxTracked` is seldom what ends that.
 *
 * An assignment begins a generation and an empty book for each of its partitions, those that stay included: between two
 * generations somebody else may have had them. What was handed over before can no longer move an offset, whoever reports
 * it; within a generation an offset never goes back. kafkajs checks neither (its issue #1046).
 */
export class OffsetLedger {
  readonly #options: OffsetLedgerOptions;
  readonly #listener: OffsetLedgerListener;
  #generation = 0;
  #books = new Map<number, PartitionBook>();

  constructor(options: OffsetLedgerOptions, listener: OffsetLedgerListener) {
    this.#options = options;
    this.#listener = listener;
  }

  /** Counts assignments; 0 before the first. */
  get generation(): number {
    return this.#generation;
  }

  get partitions(): readonly number[] {
    return [...this.#books.keys()];
  }

  /** Messages that are remembered. */
  get size(): number {
    let size = 0;
    for (const book of this.#books.values()) size += book.size;
    return size;
  }

  /** These partitions are ours from now on, and no others. Returns the new generation. */
  assign(partitions: readonly number[]): number {
    for (const book of this.#books.values()) this.#close(book);
    this.#books = new Map(partitions.map((partition) => [partition, new PartitionBook()]));
    this.#generation += 1;
    return this.#generation;
  }

  /** The partition's log has begun anew, its offsets included. Nothing that was handed over of the old one counts. */
  restart(partition: number): void {
    const book = this.#books.get(partition);
    if (book === undefined) return;
    this.#close(book);
    this.#books.set(partition, new PartitionBook());
  }

  /** The offset that the group knows of a partition; null for one that is not ours or had no message yet. */
  committed(partition: number): bigint | null {
    return this.#books.get(partition)?.committed ?? null;
  }

  /**
   * Remembers a message that was handed over. False, and not remembered, when it belongs to a past generation, to a
   * partition that is not ours, or was remembered before.
   */
  track(generation: number, partition: number, offset: bigint, message: TrackedMessage): boolean {
    if (generation !== this.#generation) return false;
    return this.#books.get(partition)?.enter(offset, message) ?? false;
  }

  /** What may be committed now and is not. */
  plan(nowMs: number): CommitPlan {
    const { offsetHoldMs, maxTracked } = this.#options;
    const offsets: { partition: number; offset: bigint }[] = [];
    let letGo = 0;
    for (const [partition, book] of this.#books) {
      letGo += book.advance(nowMs - offsetHoldMs, maxTracked);
      const offset = book.uncommitted;
      if (offset !== null) offsets.push({ partition, offset });
    }
    if (letGo > 0) this.#listener.offsetsLetGo(letGo);
    return { generation: this.#generation, offsets };
  }

  /** The broker has taken the plan. */
  confirm({ generation, offsets }: CommitPlan): void {
    if (generation !== this.#generation) return this.#listener.staleDropped(offsets.length);
    for (const { partition, offset } of offsets) this.#books.get(partition)?.confirm(offset);
  }

  #close(book: PartitionBook): void {
    book.close(() => this.#listener.staleDropped(1));
  }
}
