/** Counts what came about, so that a run can show which corners it has seen and which it never reached. */
export class Situations {
  readonly #counts = new Map<string, number>();

  count(what: string, by = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + by);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  addAll(others: Readonly<Record<string, number>>): void {
    for (const [what, count] of Object.entries(others)) this.count(what, count);
  }

  toRecord(): Record<string, number> {
    return Object.fromEntries([...this.#counts].toSorted(([one], [other]) => one.localeCompare(other)));
  }
}
