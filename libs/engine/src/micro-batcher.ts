import { DeadmanError } from '@deadman/domain';
import type { Clock, Timer } from '@deadman/domain';

export interface BatchOptions {
  /** Most items in one flush. */
  readonly maxBatch: number;
  /** Most weight in one flush, unless a single item has more. Default: no limit. */
  readonly maxBatchWeight?: number;
  /** Most items that may wait; further ones are refused as `overloaded`. */
  readonly maxWaiting: number;
  /** Most weight that may wait. Default: no limit. */
  readonly maxWaitingWeight?: number;
  /** Longest that an item waits for company while another flush is under way. Milliseconds. */
  readonly lingerMs: number;
  /** Most flushes under way at once. */
  readonly concurrency: number;
  /**
   * Whether a batch that is much larger than the one before it leaves some for the next. Good where a caller comes again as
   * soon as it is answered: the callers then fall into two groups of one size, and while one is stored the other is
   * answered and asks. A large group and a small one take turns, and each time one side of the work waits for the other.
   * Default: no.
   */
  readonly keepsEven?: boolean;
}

/** What became of one item of a batch. */
export type Answer<Result> = { readonly value: Result } | { readonly error: unknown };

/** A smaller batch is never split: a flush costs more than the items of so few. */
const SPLIT_FROM = 8;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly weight: number;
  readonly resolve: (value: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers single requests into batches: at once when nothing is under way, so that a lone request never waits, and under
 * load whatever came together during the flush before. This is group commit, and it tunes itself: the slower a flush, the
 * larger the next.
 */
export class MicroBatcher<Item, Result> {
  readonly #flush: (items: readonly Item[]) => Promise<readonly Answer<Result>[]>;
  readonly #options: BatchOptions;
  readonly #clock: Clock;
  readonly #weightOf: (item: Item) => number;
  #waiting: Waiting<Item, Result>[] = [];
  #waitingWeight = 0;
  #inFlight = 0;
  /** Items of the flush that began last, 0 when there was a pause since. */
  #latest = 0;
  #isScheduled = false;
  #linger: Timer | null = null;
  #isClosed = false;
  #onIdle: (() => void)[] = [];

  /**
   * @param flush answers every item in order; when it throws, the whole batch is answered with that error.
   * @param weightOf what an item counts against the limits of weight.
   */
  constructor(
    flush: (items: readonly Item[]) => Promise<readonly Answer<Result>[]>,
    options: BatchOptions,
    clock: Clock,
    weightOf: (item: Item) => number = () => 0,
  ) {
    this.#flush = flush;
    this.#options = options;
    this.#clock = clock;
    this.#weightOf = weightOf;
  }

  /** Items that have not been taken into a flush yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether one more item may wait. */
  hasRoomFor(item: Item): boolean {
    return this.#canHold(this.#weightOf(item));
  }

  /** Resolves with the item's answer. Throws `overloaded` when too many wait, and `shutting-down` after `close`; then nothing happened. */
  add(item: Item): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new DeadmanError('shutting-down'));
    const weight = this.#weightOf(item);
    if (!this.#canHold(weight)) return Promise.reject(new DeadmanError('overloaded'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, weight, resolve, reject });
      this.#waitingWeight += weight;
      this.#pump();
    });
  }

  /** Takes nothing more and resolves when everything that was added has been answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.idle();
  }

  /** Resolves when nothing waits and nothing is under way. */
  async idle(): Promise<void> {
    if (this.#waiting.length === 0 && this.#inFlight === 0) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #canHold(weight: number): boolean {
    const { maxWaiting, maxWaitingWeight = Infinity } = this.#options;
    return this.#waiting.length < maxWaiting && this.#waitingWeight + weight <= maxWaitingWeight;
  }

  #pump(): void {
    if (this.#waiting.length === 0 || !this.#canFlush()) return;
    if (this.#inFlight === 0 || this.#isBatchFull()) this.#schedule();
    else this.#startLinger();
  }

  #canFlush(): boolean {
    return this.#inFlight < this.#options.concurrency;
  }

  #isBatchFull(): boolean {
    const { maxBatch, maxBatchWeight = Infinity } = this.#options;
    return this.#waiting.length >= maxBatch || this.#waitingWeight >= maxBatchWeight;
  }

  /** Waits for the end of the current turn of the caller, so that what is added together is flushed together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (this.#canFlush()) void this.#flushNow();
    });
  }

  #startLinger(): void {
    this.#linger ??= this.#clock.setTimer(this.#options.lingerMs, () => {
      this.#linger = null;
      if (this.#canFlush()) void this.#flushNow();
    });
  }

  async #flushNow(): Promise<void> {
    const batch = this.#take();
    if (batch.length === 0) return;
    this.#linger?.cancel();
    this.#linger = null;
    this.#inFlight += 1;
    // What did not fit into this flush need not wait for its end.
    this.#pump();
    try {
      this.#answer(batch, await this.#flush(batch.map(({ item }) => item)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#inFlight -= 1;
      this.#pump();
      if (this.#waiting.length === 0 && this.#inFlight === 0) this.#rest();
    }
  }

  #take(): readonly Waiting<Item, Result>[] {
    const { maxBatchWeight = Infinity } = this.#options;
    const most = this.#mostInBatch();
    let count = 0;
    let weight = 0;
    for (const waiting of this.#waiting) {
      if (count === most || (count > 0 && weight + waiting.weight > maxBatchWeight)) break;
      count += 1;
      weight += waiting.weight;
    }
    this.#waitingWeight -= weight;
    this.#latest = count;
    return this.#waiting.splice(0, count);
  }

  #mostInBatch(): number {
    const { maxBatch, keepsEven = false } = this.#options;
    const [waiting, latest] = [this.#waiting.length, this.#latest];
    if (!keepsEven || latest === 0 || waiting < SPLIT_FROM || waiting <= latest) return maxBatch;
    return Math.min(maxBatch, Math.ceil((waiting + latest) / 2));
  }

  #answer(batch: readonly Waiting<Item, Result>[], answers: readonly Answer<Result>[]): void {
    if (answers.length !== batch.length) throw new TypeError('A flush must answer every item of its batch');
    batch.forEach(({ resolve, reject }, index) => {
      const answer = answers[index]!;
      if ('error' in answer) reject(answer.error);
      else resolve(answer.value);
    });
  }

  #rest(): void {
    this.#latest = 0;
    const listeners = this.#onIdle;
    this.#onIdle = [];
    for (const listener of listeners) listener();
  }
}
