/** Work that goes on behind an answer. Nobody waits for it, except whoever stops. */
export class UnderWay {
  readonly #works = new Set<Promise<unknown>>();

  /** Remembers work until it is done, well or badly, and returns it. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#works.add(work);
    const forget = (): void => void this.#works.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** Resolves when nothing is under way, what began meanwhile included. */
  async settled(): Promise<void> {
    while (this.#works.size > 0) await Promise.allSettled(this.#works);
  }
}
