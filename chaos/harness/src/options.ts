import { parseArgs } from 'node:util';

export interface Options {
  readonly jobs: number;
  readonly workers: number;
  readonly slots: number;
  readonly killRate: number;
  readonly seeds: readonly number[];
  /** Whether seeds that have a report already are left out. */
  readonly isCampaign: boolean;
  /** Time a lease holds. Milliseconds. Never scaled. */
  readonly ttlMs: number;
  /** Factor on injected durations, job counts, and the backoff and wait of the quarantine. */
  readonly timeScale: number;
  /** Whether a check of speed decides. Where it does not, it is told all the same. */
  readonly isTimed: boolean;
  readonly scenarios: readonly string[];
  readonly list: boolean;
  /** Parts of the names of mutants to look for instead; null for none. */
  readonly mutants: readonly string[] | null;
  /** Folder of the reports, one per scenario and seed. */
  readonly report: string;
  /** The code that the services run; null for a copy of what is built now. */
  readonly code: string | null;
}

export const USAGE = `npm run chaos -- [options]

  --scenario NAME      one of --list, several between commas, or "all"; default kill-storm
  --list               names the scenarios
  --mutants WHICH      puts each mutant into a copy of the code, and has its scenario find it: all, or parts of names
  --seed N             repeats the plan of faults; default 1
  --seeds 1,2,3        a run per seed. Interrupted, it goes on with the seeds that have no report yet
  --jobs N             default 100000
  --workers N          default 4
  --slots N            handlers at once in each worker; default 64
  --kill-rate X        least share of started executions that a SIGKILL ends; default 0.3
  --ttl SECONDS        time a lease holds, at least 2; default 5
  --untimed            tells of what was too slow, and lets it decide nothing: for a machine that does other things, too
  --time-scale X       scales injected durations, job counts, backoff and wait of the quarantine; default 1
  --report DIR         default .deadman/chaos/reports
  --help               this`;

const SHAPE = {
  strict: true,
  options: {
    jobs: { type: 'string', default: '100000' },
    workers: { type: 'string', default: '4' },
    slots: { type: 'string', default: '64' },
    'kill-rate': { type: 'string', default: '0.3' },
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string' },
    ttl: { type: 'string', default: '5' },
    'time-scale': { type: 'string', default: '1' },
    untimed: { type: 'boolean', default: false },
    scenario: { type: 'string', default: 'kill-storm' },
    list: { type: 'boolean', default: false },
    mutants: { type: 'string' },
    report: { type: 'string', default: '.deadman/chaos/reports' },
    code: { type: 'string' },
  },
} as const;

const LEAST_TTL_MS = 2_000;

/** What is wrong with the options, as a sentence for people. */
export class OptionError extends Error {}

/** @throws OptionError */
export function parseOptions(args: readonly string[]): Options {
  const values = readValues(args);
  const options: Options = {
    jobs: wholeNumber('jobs', values.jobs),
    workers: wholeNumber('workers', values.workers),
    slots: wholeNumber('slots', values.slots),
    killRate: positive('kill-rate', values['kill-rate']),
    seeds: (values.seeds ?? values.seed).split(',').map((seed) => wholeNumber('seed', seed)),
    isCampaign: values.seeds !== undefined,
    ttlMs: positive('ttl', values.ttl) * 1_000,
    timeScale: positive('time-scale', values['time-scale']),
    isTimed: !values.untimed,
    scenarios: values.scenario.split(','),
    list: values.list,
    mutants: toMutants(values.mutants),
    report: values.report,
    code: values.code ?? null,
  };
  if (options.killRate >= 0.9) throw new OptionError('--kill-rate must be below 0.9, or no job ends');
  if (options.ttlMs < LEAST_TTL_MS) throw new OptionError('--ttl must be at least 2 (seconds)');
  return options;
}

function readValues(args: readonly string[]): ReturnType<typeof parseArgs<typeof SHAPE>>['values'] {
  try {
    return parseArgs({ ...SHAPE, args: [...args] }).values;
  } catch (error) {
    throw new OptionError((error as Error).message);
  }
}

/** Those that a run depends on. */
export type RunOptions = Pick<Options, 'jobs' | 'workers' | 'slots' | 'killRate' | 'ttlMs' | 'timeScale' | 'isTimed'>;

export function shownOptions(options: Options): RunOptions {
  const { jobs, workers, slots, killRate, ttlMs, timeScale, isTimed } = options;
  return { jobs, workers, slots, killRate, ttlMs, timeScale, isTimed };
}

function toMutants(text: string | undefined): Options['mutants'] {
  if (text === undefined) return null;
  return text === 'all' ? [''] : text.split(',');
}

function wholeNumber(name: string, text: string): number {
  const value = positive(name, text);
  if (!Number.isInteger(value)) throw new OptionError(`--${name} must be a whole number, not "${text}"`);
  return value;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value))
    throw new OptionError(`--${name} must be a number above 0, not "${text}"`);
  return value;
}
