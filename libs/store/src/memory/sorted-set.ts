/**
 * Distinct items in the order of a comparison, found by halving. Adding at the end and removing at either end, which is
 * what queues do, costs next to nothing; elsewhere it moves pointers, which is cheap up to some hundred thousand items.
 */
export class SortedSet<Item> {
  readonly #compare: (a: Item, b: Item) => number;
  readonly #items: Item[] = [];

  /** @param compare 0 only for what is the same item. */
  constructor(compare: (a: Item, b: Item) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    this.#items.splice(this.#placeOf(item), 0, item);
  }

  delete(item: Item): void {
    const place = this.#placeOf(item);
    const found = this.#items[place];
    if (found !== undefined && this.#compare(found, item) === 0) this.#items.splice(place, 1);
  }

  /** From the first item on. The set must not change meanwhile. */
  *ascending(): Generator<Item> {
    yield* this.#items;
  }

  /** From the last item back. The set must not change meanwhile. */
  *descending(): Generator<Item> {
    for (let index = this.#items.length - 1; index >= 0; index -= 1) yield this.#items[index]!;
  }

  /** Where the item is, or belongs: the number of items before it. */
  #placeOf(item: Item): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#items[middle]!, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
