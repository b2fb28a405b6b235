import { Random } from '@deadman/domain';

/**
 * A stream of dice that can be split by name. Whoever rolls in the simulation has a stream of its own, so that taking one
 * fault out of a plan shifts nobody else's luck, and a plan that failed can be made smaller.
 *
 * Mulberry32 by Tommy Ettinger; a split is seeded by the FNV-1a hash of its name (Fowler, Noll and Vo).
 */
export class Dice extends Random {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    super();
    this.seed = seed >>> 0;
    this.#state = this.seed;
  }

  /** Always the same stream for the same seed and name, whatever was rolled before. */
  split(name: string): Dice {
    let hash = 0x811c9dc5 ^ this.seed;
    for (let index = 0; index < name.length; index += 1) {
      hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
    }
    return new Dice(Math.imul(hash ^ (hash >>> 16), 0x85ebca6b));
  }

  override next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(of: number): boolean {
    return of > 0 && this.next() < of;
  }

  /** Uniform among the whole numbers from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new RangeError('Nothing to pick from');
    return items[this.integer(0, items.length - 1)] as Item;
  }
}
