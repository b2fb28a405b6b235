/** Spent places at the front are given back once there are this many of them, so that taking one stays cheap. */
const SPENT_BEFORE_COMPACTING = 1_024;

/** First in, first out, and never longer than its limit: whoever appends to a full one decides what gives way. */
export class BoundedLog<Item> {
  readonly #limit: number;
  #items: Item[] = [];
  #head = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** False, and nothing appended, when it is full. */
  tryAppend(item: Item): boolean {
    if (this.size >= this.#limit) return false;
    this.#items.push(item);
    return true;
  }

  /** Appends in any case; returns the oldest item when it had to give way. */
  appendOverOldest(item: Item): Item | null {
    const dropped = this.size >= this.#limit ? (this.take(1)[0] ?? null) : null;
    this.#items.push(item);
    return dropped;
  }

  /** The oldest item, left in place. */
  first(): Item | undefined {
    return this.#items[this.#head];
  }

  /** Removes the oldest `count` items. */
  take(count: number): Item[] {
    const taken = this.#items.slice(this.#head, this.#head + count);
    this.#head += taken.length;
    if (this.#head >= SPENT_BEFORE_COMPACTING) this.#compact();
    return taken;
  }

  /** Returns items to the front, where they came from. Of what does not fit, the oldest is let go. */
  putBack(items: readonly Item[]): void {
    const room = Math.max(this.#limit - this.size, 0);
    this.#compact();
    if (room > 0) this.#items.unshift(...items.slice(-room));
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }

  #compact(): void {
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}
