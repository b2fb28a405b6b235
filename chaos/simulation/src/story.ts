interface Line {
  readonly atMs: number;
  readonly who: string;
  readonly what: string;
}

/** Whoever speaks under this name is heard in every story. */
export const WORLD = 'world';

/** What happened, a line at a time: the lines tell a person why a run failed, the hash tells whether two runs were the same. */
export class Story {
  readonly #lines: Line[] | null;
  #hash = 0x811c9dc5;

  /** @param isTold whether the lines are kept; making them takes time. The hash is always made. */
  constructor(isTold: boolean) {
    this.#lines = isTold ? [] : null;
  }

  /** @param what asked for only when the story is told. */
  tell(atMs: number, who: string, what: () => string): void {
    this.#lines?.push({ atMs, who, what: what() });
  }

  /** Numbers that would differ if something else had happened (FNV-1a by words, 32 bits). */
  mix(...numbers: readonly number[]): void {
    for (const number of numbers) this.#hash = Math.imul(this.#hash ^ number, 0x01000193);
  }

  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  /** The lines that speak of one of `subjects`, and those of the world. */
  about(subjects: readonly string[]): readonly string[] {
    const isWanted = ({ who, what }: Line): boolean =>
      who === WORLD || subjects.some((subject) => what.includes(subject));
    return (this.#lines ?? []).filter(isWanted).map(toText);
  }

  get lines(): readonly string[] {
    return (this.#lines ?? []).map(toText);
  }
}

/** How a job is called in a story: enough of its id to tell it from others. */
export function nameOf(jobId: string): string {
  return jobId.slice(-9);
}

function toText({ atMs, who, what }: Line): string {
  return `${(atMs / 1_000).toFixed(3).padStart(8)}  ${who.padEnd(12)} ${what}`;
}
