import type { Violation } from './invariants.js';
import type { Measures, ScheduleResult } from './schedule.js';
import { MARKS } from './fault-marks.js';
import { CORNERS, Situations } from './situations.js';

/** What is left of a schedule when it is over. Threads send it to each other. */
export interface Outcome {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly situations: Readonly<Record<string, number>>;
  readonly measures: Measures;
  readonly hash: string;
}

export function toOutcome({ seed, violations, situations, measures, hash }: ScheduleResult): Outcome {
  return { seed, violations, situations, measures, hash };
}

/** A seed that broke a rule. */
export interface Failure {
  readonly seed: number;
  readonly violations: readonly Violation[];
}

/** The largest share of reaps that may be false in schedules without a failover; a prototype of the rules had 1 in 4,000. */
export const MAX_FALSE_REAPS = 0.001;

/** How often each fault has to take effect, per schedule; the rarest does so three times as often. */
const LEAST_MARKS = 1 / 100;

/** What a mutant names as its check that shows in the share of false reaps alone. */
const FALSE_REAPS = 'false reaps';

export type Sums = Record<Exclude<keyof Measures, 'slowestMs'>, number>;

/** Totals as they are written down. */
export interface TotalsRecord {
  readonly schedules: number;
  readonly trace: number;
  readonly slowest: Totals['slowest'];
  readonly sums: Readonly<Sums>;
  readonly situations: Readonly<Record<string, number>>;
  readonly failures: readonly Failure[];
}

/** Sums up schedules, in whatever order they come. */
export class Totals {
  readonly situations = new Situations();
  readonly failures: Failure[] = [];
  schedules = 0;
  slowest = { ms: 0, seed: 0 };
  #trace = 0;
  readonly #sums: Sums = {
    events: 0,
    jobs: 0,
    executions: 0,
    duplicates: 0,
    reaps: 0,
    falseReaps: 0,
    calmReaps: 0,
    calmFalseReaps: 0,
  };

  add({ seed, violations, situations, measures, hash }: Outcome): void {
    const { slowestMs, ...sums } = measures;
    const failures = violations.length === 0 ? [] : [{ seed, violations }];
    // Each seed's own, so that two seeds that swap their traces are seen.
    const trace = Math.imul(Number.parseInt(hash, 16) ^ seed, 0x9e3779b1);
    this.addAll({ schedules: 1, trace, slowest: { ms: slowestMs, seed }, sums, situations, failures });
  }

  addAll({ schedules, trace, slowest, sums, situations, failures }: TotalsRecord): void {
    this.schedules += schedules;
    this.#trace = (this.#trace + trace) >>> 0;
    if (slowest.ms > this.slowest.ms) this.slowest = slowest;
    for (const name of Object.keys(this.#sums) as (keyof Sums)[]) this.#sums[name] += sums[name];
    this.situations.addAll(situations);
    this.failures.push(...failures);
  }

  toRecord(): TotalsRecord {
    const { schedules, slowest, failures } = this;
    return {
      schedules,
      trace: this.#trace,
      slowest,
      sums: this.sums,
      situations: this.situations.toRecord(),
      failures,
    };
  }

  get sums(): Readonly<Sums> {
    return this.#sums;
  }

  /** The same seeds under the same code give the same trace, on however many threads and in whatever order. */
  get trace(): string {
    return this.#trace.toString(16).padStart(8, '0');
  }

  get falseReapShare(): number {
    return this.#sums.calmReaps === 0 ? 0 : this.#sums.calmFalseReaps / this.#sums.calmReaps;
  }

  /** The first seed that broke this check; null when none did. Too many false reaps are a fault of all seeds, and of none. */
  firstFault(check: string): { readonly seed: number | null } | null {
    if (check === FALSE_REAPS) return this.#hasTooManyFalseReaps ? { seed: null } : null;
    const seeds = this.failures
      .filter(({ violations }) => violations.some((violation) => violation.check === check))
      .map(({ seed }) => seed);
    return seeds.length === 0 ? null : { seed: Math.min(...seeds) };
  }

  get #hasTooManyFalseReaps(): boolean {
    return this.#sums.calmFalseReaps >= 3 && this.falseReapShare >= MAX_FALSE_REAPS;
  }

  #complaintsOfTooFew(): readonly string[] {
    const missing = CORNERS.filter((what) => this.situations.of(what) === 0);
    const seldom = MARKS.filter((what) => this.situations.of(what) < this.schedules * LEAST_MARKS);
    return [
      ...(missing.length > 0 ? [`never came about: ${missing.join(', ')}`] : []),
      ...(seldom.length > 0 ? [`took effect too seldom: ${seldom.join(', ')}`] : []),
    ];
  }

  /** What keeps a run from being green, as sentences. */
  complaints(): readonly string[] {
    const said: string[] = [];
    if (this.failures.length > 0) said.push(`${this.failures.length} of ${this.schedules} schedules broke a rule`);
    // A few schedules cannot see everything; a thousand have to.
    if (this.schedules >= 1_000) said.push(...this.#complaintsOfTooFew());
    if (this.#sums.calmReaps >= 1_000 && this.#hasTooManyFalseReaps) {
      said.push(`${(this.falseReapShare * 100).toFixed(2)} % of the reaps without a failover were false`);
    }
    return said;
  }
}
