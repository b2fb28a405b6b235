import { unstorableReason } from '@deadman/domain';

/** UTF-16 units. */
const MAX_LENGTH = 128;

/** A settle names the effects of its run, so that their number is bounded. A guess. */
const MOST_NAMES = 1_000;

/**
 * The names that a run has given to its effects, or to its steps. Each is used once: a second use would be given what the
 * first one left, and a handler that does different things under one name would silently skip all but the first.
 */
export class NamesInUse {
  readonly #what: string;
  readonly #names = new Set<string>();

  /** @param what is named, for the errors. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Does something under a name. If that fails the name is free again. Throws TypeError for a mistake of the handler. */
  async use<Result>(name: unknown, act: (name: string) => Promise<Result>): Promise<Result> {
    this.#assertFree(name);
    this.#names.add(name);
    try {
      return await act(name);
    } catch (error) {
      this.#names.delete(name);
      throw error;
    }
  }

  #assertFree(name: unknown): asserts name is string {
    const what = this.#what;
    if (typeof name !== 'string' || name === '' || name.length > MAX_LENGTH || unstorableReason(name) !== null) {
      throw new TypeError(`The name of ${what} is a text of 1 to ${MAX_LENGTH} characters that can be stored`);
    }
    if (this.#names.has(name)) throw new TypeError(`The run has used the name "${name}" for ${what} before`);
    if (this.#names.size >= MOST_NAMES) throw new TypeError(`A run names ${what} at most ${MOST_NAMES} times`);
  }
}
