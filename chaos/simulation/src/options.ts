import { parseArgs } from 'node:util';
import { InputError } from './input-error.js';

/** What a run of the simulation is asked for. */
export interface Options {
  readonly schedules: number;
  /** The first seed; the others follow it. */
  readonly seed: number;
  readonly threads: number;
  readonly verbose: boolean;
  /** Tells the story of one seed, and nothing else. */
  readonly replay: number | null;
  /** The same for the plan in a file. */
  readonly plan: string | null;
  /** Runs new seeds for so many seconds, and reports them without deciding anything. */
  readonly freshSeconds: number | null;
  /** Stops at the first schedule that breaks this check, and neither shrinks nor keeps it; null for none. */
  readonly untilFound: string | null;
  /** Where failing plans are kept; null keeps none. */
  readonly regressions: string | null;
  /** Where a long run writes down how far it is, and goes on after an interruption. */
  readonly journal: string | null;
  /** Tells the code that runs from any other. A journal is of one code. */
  readonly code: string;
}

export const USAGE = `npm run simulate -- [options]
  --schedules N      how many seeds to run (1000)
  --seed S           the first of them (1)
  --threads N        how many at a time (2)
  --verbose          all counters, not only those that have to come about
  --replay SEED      the story of one seed
  --plan FILE        the story of one plan, as regressions are kept
  --fresh SECONDS    new seeds for so long; reported, decides nothing
  --journal FILE     goes on where an earlier run with this file was interrupted
  --keep-nothing     failing plans are shown and not kept
  --mutants [NAME]   puts known faults into copies of the code, and fails when one is not found by its check;
                     with --table before the names it prints the rows of docs/verification.md`;

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      schedules: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      threads: { type: 'string', default: '2' },
      verbose: { type: 'boolean', default: false },
      replay: { type: 'string' },
      plan: { type: 'string' },
      fresh: { type: 'string' },
      'until-found': { type: 'string' },
      regressions: { type: 'string' },
      journal: { type: 'string' },
      code: { type: 'string', default: '' },
    },
  });
  if (values.fresh !== undefined && values.journal !== undefined) {
    throw new InputError('--fresh draws its seeds, and --journal goes on with known ones: take one of them');
  }
  return {
    schedules: toCount(values.schedules, 'schedules', 1),
    seed: toCount(values.seed, 'seed'),
    threads: toCount(values.threads, 'threads', 1),
    verbose: values.verbose,
    replay: values.replay === undefined ? null : toCount(values.replay, 'replay'),
    plan: values.plan ?? null,
    freshSeconds: values.fresh === undefined ? null : toCount(values.fresh, 'fresh', 1),
    untilFound: values['until-found'] ?? null,
    regressions: values.regressions ?? null,
    journal: values.journal ?? null,
    code: values.code,
  };
}

function toCount(text: string, name: string, least = 0): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new InputError(`--${name} takes a whole number from ${least} on, not "${text}"`);
}
