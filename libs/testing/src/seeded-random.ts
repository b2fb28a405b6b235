import { Random } from '@deadman/domain';

/** A test that failed is repeated by setting this variable to the seed it printed. */
const SEED_VARIABLE = 'DEADMAN_TEST_SEED';

/** Mulberry32 by Tommy Ettinger: 32 bits of state, a period of 2^32, good enough for the dice of tests. */
export class SeededRandom extends Random {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    super();
    this.seed = seed >>> 0;
    this.#state = this.seed;
  }

  /** A new seed for each run, or the one in `DEADMAN_TEST_SEED`; printed either way, so that any run can be repeated. */
  static announced(title: string): SeededRandom {
    const given = process.env[SEED_VARIABLE];
    const seed = given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
    if (!Number.isInteger(seed)) throw new RangeError(`${SEED_VARIABLE} must be a whole number, not "${given}"`);
    process.stderr.write(`${title}: seed ${seed >>> 0} (repeat with ${SEED_VARIABLE}=${seed >>> 0})\n`);
    return new SeededRandom(seed);
  }

  override next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Uniform among the whole numbers from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new RangeError('Nothing to pick from');
    return items[this.integer(0, items.length - 1)] as Item;
  }

  /** A new array in random order (Fisher and Yates). */
  shuffle<Item>(items: readonly Item[]): Item[] {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last -= 1) {
      const other = this.integer(0, last);
      [shuffled[last], shuffled[other]] = [shuffled[other] as Item, shuffled[last] as Item];
    }
    return shuffled;
  }
}

/** Dice that always fall the same way. 0.5 unless said otherwise: the middle of every jitter. */
export class FixedRandom extends Random {
  readonly #value: number;

  constructor(value = 0.5) {
    super();
    this.#value = value;
  }

  override next(): number {
    return this.#value;
  }
}
