/** Values of one label that are told apart; all further ones are counted together. */
const DEFAULT_LIMIT = 200;

/** What a value is called that comes after the limit. */
export const OTHER = 'other';

/** Keeps a label from growing without bound: each value makes a time series that a process never forgets. */
export class BoundedLabel {
  readonly #limit: number;
  readonly #known = new Set<string>();

  constructor(known: readonly string[] = [], limit = DEFAULT_LIMIT) {
    this.#limit = Math.max(limit, known.length);
    for (const value of known) this.#known.add(value);
  }

  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size >= this.#limit) return OTHER;
    this.#known.add(value);
    return value;
  }
}
