import type { Violation } from './invariants.js';
import type { Measures, ScheduleResult } from './schedule.js';
import { REQUIRED_SITUATIONS, Situations } from './situations.js';

/** What is left of a schedule when it is over. Threads send it to each other. */
export interface Outcome {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly situations: Readonly<Record<string, number>>;
  readonly measures: Measures;
}

export function toOutcome({ seed, violations, situations, measures }: ScheduleResult): Outcome {
  return { seed, violations, situations, measures };
}

/** A seed that broke a rule. */
export interface Failure {
  readonly seed: number;
  readonly violations: readonly Violation[];
}

/** The largest share of reaps that may be false in schedules without a failover; a prototype of the rules had 1 in 4,000. */
export const MAX_FALSE_REAPS = 0.001;

/** Sums up schedules, in whatever order they come. */
export class Totals {
  readonly situations = new Situations();
  readonly failures: Failure[] = [];
  schedules = 0;
  slowest = { ms: 0, seed: 0 };
  readonly #sums: Record<Exclude<keyof Measures, 'slowestMs'>, number> = {
    events: 0,
    jobs: 0,
    executions: 0,
    duplicates: 0,
    reaps: 0,
    falseReaps: 0,
    calmReaps: 0,
    calmFalseReaps: 0,
  };

  add({ seed, violations, situations, measures }: Outcome): void {
    this.schedules += 1;
    this.situations.addAll(situations);
    if (violations.length > 0) this.failures.push({ seed, violations });
    for (const name of Object.keys(this.#sums) as (keyof typeof this.sums)[]) this.#sums[name] += measures[name];
    if (measures.slowestMs > this.slowest.ms) this.slowest = { ms: measures.slowestMs, seed };
  }

  get sums(): Readonly<Record<Exclude<keyof Measures, 'slowestMs'>, number>> {
    return this.#sums;
  }

  get falseReapShare(): number {
    return this.#sums.calmReaps === 0 ? 0 : this.#sums.calmFalseReaps / this.#sums.calmReaps;
  }

  /** The first thing that is wrong, for whoever looks for a mutant; null while nothing is. */
  firstFault(): Failure | null {
    const [failure] = this.failures.toSorted((one, other) => one.seed - other.seed);
    if (failure !== undefined) return failure;
    const areTooMany = this.#sums.calmFalseReaps >= 3 && this.falseReapShare > MAX_FALSE_REAPS;
    const message = `${this.#sums.calmFalseReaps} of ${this.#sums.calmReaps} reaps were false`;
    return areTooMany ? { seed: 0, violations: [{ check: 'false reaps', jobId: '', message }] } : null;
  }

  /** What keeps a run from being green, as sentences. */
  complaints(): readonly string[] {
    const said: string[] = [];
    if (this.failures.length > 0) said.push(`${this.failures.length} of ${this.schedules} schedules broke a rule`);
    const missing = this.situations.missing(REQUIRED_SITUATIONS);
    // A few schedules cannot see everything; a thousand have to.
    if (this.schedules >= 1_000 && missing.length > 0) said.push(`never came about: ${missing.join(', ')}`);
    if (this.#sums.calmReaps >= 1_000 && this.falseReapShare >= MAX_FALSE_REAPS) {
      said.push(`${(this.falseReapShare * 100).toFixed(2)} % of the reaps without a failover were false`);
    }
    return said;
  }
}
