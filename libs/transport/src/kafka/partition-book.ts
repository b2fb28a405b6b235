/** Spent places at the front are given back once there are this many of them, so that moving on stays cheap. */
const SPENT_BEFORE_COMPACTING = 1_024;

/** A message that was handed over, until nothing of it is left to do. */
export class TrackedMessage {
  readonly #waiting: Set<string>;
  readonly #claimed = new Set<string>();
  #claimedAtMs = -Infinity;
  #onSettled: (() => void) | null = null;

  /** @param jobIds what it names; a message that names nothing is settled from the start. */
  constructor(jobIds: Iterable<string>) {
    this.#waiting = new Set(jobIds);
  }

  get isSettled(): boolean {
    return this.#waiting.size === 0 && this.#claimed.size === 0;
  }

  /** When the last of its ids was claimed; `Infinity` while one of them waits for that. Milliseconds of the clock. */
  get claimedAtMs(): number {
    return this.#waiting.size === 0 ? this.#claimedAtMs : Infinity;
  }

  /** This id's job is at work. Twice, late, or for an id that it does not name: does nothing. */
  claimed(jobId: string, nowMs: number): void {
    if (!this.#waiting.delete(jobId)) return;
    this.#claimed.add(jobId);
    this.#claimedAtMs = nowMs;
  }

  /** This id needs no further delivery. Twice, late, or for an id that it does not name: does nothing. */
  done(jobId: string): void {
    const isNews = this.#waiting.delete(jobId) || this.#claimed.delete(jobId);
    if (isNews && this.isSettled) this.#onSettled?.();
  }

  /** Calls back once, when the last of its ids is done. */
  whenSettled(callback: () => void): void {
    this.#onSettled = callback;
  }

  /** Is waited for no longer, though its ids may still be at work. */
  letGo(): void {
    this.#onSettled = null;
    this.#waiting.clear();
    this.#claimed.clear();
  }
}

interface Entry {
  readonly offset: bigint;
  readonly message: TrackedMessage;
}

/** What was handed over of one partition in one generation, in the order of its offsets. */
export class PartitionBook {
  #entries: Entry[] = [];
  #head = 0;
  #last = -1n;
  /** The offset below which nothing is left to do. */
  #watermark = 0n;
  /** What the group knows of the watermark: at first, that deliveries began there. */
  #committed = 0n;

  /** Messages that hold the watermark back, or lie behind one that does. */
  get size(): number {
    return this.#entries.length - this.#head;
  }

  get committed(): bigint {
    return this.#committed;
  }

  /** The offset to commit; null when the group knows it. */
  get uncommitted(): bigint | null {
    return this.#watermark > this.#committed ? this.#watermark : null;
  }

  /** False for an offset that was entered before: its first delivery is the one that counts. */
  enter(offset: bigint, message: TrackedMessage): boolean {
    if (offset <= this.#last) return false;
    if (this.#last === -1n) this.#watermark = this.#committed = offset;
    this.#last = offset;
    this.#entries.push({ offset, message });
    return true;
  }

  /**
   * Moves the watermark over what is settled, and over the oldest ones that were claimed at `claimedByMs` or before, or are
   * more than `limit`. Returns how many of those were not settled.
   */
  advance(claimedByMs: number, limit: number): number {
    let letGo = 0;
    for (let entry = this.#entries[this.#head]; entry !== undefined; entry = this.#entries[this.#head]) {
      const isHeldTooLong = entry.message.claimedAtMs <= claimedByMs || this.size > limit;
      if (!entry.message.isSettled && !isHeldTooLong) break;
      if (!entry.message.isSettled) letGo += 1;
      entry.message.letGo();
      this.#watermark = entry.offset + 1n;
      this.#head += 1;
    }
    this.#compact();
    return letGo;
  }

  /** The broker has taken this offset. */
  confirm(offset: bigint): void {
    if (offset > this.#committed) this.#committed = offset;
  }

  /** Whatever is still undone belongs to a past generation from now on; `onLate` hears of each message that settles then. */
  close(onLate: () => void): void {
    for (const { message } of this.#entries.slice(this.#head)) message.whenSettled(onLate);
    this.#entries = [];
    this.#head = 0;
  }

  #compact(): void {
    if (this.#head < SPENT_BEFORE_COMPACTING) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }
}
