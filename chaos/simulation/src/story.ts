/** What happened, a line at a time. The hash of it tells whether two runs were the same; the lines tell a person why one failed. */
export class Story {
  readonly #lines: string[] | null;
  #hash = 0x811c9dc5;

  /** @param isTold whether the lines are kept. The hash is always made. */
  constructor(isTold: boolean) {
    this.#lines = isTold ? [] : null;
  }

  tell(atMs: number, who: string, what: string): void {
    const line = `${(atMs / 1_000).toFixed(3).padStart(9)}  ${who.padEnd(12)} ${what}`;
    this.#mix(line);
    this.#lines?.push(line);
  }

  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  /** The lines that speak of one of `subjects`, or of the world as a whole. */
  about(subjects: readonly string[]): readonly string[] {
    return (this.#lines ?? []).filter(
      (line) => line.includes('  world') || subjects.some((name) => line.includes(name)),
    );
  }

  get lines(): readonly string[] {
    return this.#lines ?? [];
  }

  /** FNV-1a, 32 bits (Fowler, Noll and Vo). */
  #mix(line: string): void {
    for (let index = 0; index < line.length; index += 1) {
      this.#hash = Math.imul(this.#hash ^ line.charCodeAt(index), 0x01000193);
    }
  }
}
