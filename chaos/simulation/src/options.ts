import { parseArgs } from 'node:util';
import { InputError } from './input-error.js';
import { LAST_SEED } from './seeds.js';

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
  --seed S           the first of them (1); the last there is, is ${LAST_SEED}
  --threads N        how many at a time (2)
  --verbose          all counters, not only those that have to come about
  --replay SEED      the story of one seed
  --plan FILE        the story of one plan, as regressions are kept
  --fresh SECONDS    new seeds for so long; reported, decides nothing
  --journal FILE     goes on where an earlier run with this file was interrupted
  --keep-nothing     failing plans are shown and not kept
  --mutants [NAME…]  puts known faults into copies of the code, and fails when one is not found by its check: all, or
                     those with one of these in their names; with --table it prints the rows of docs/verification.md
  --help             this`;

/** More than any machine has cores for. */
const MOST_THREADS = 256;

const SHAPE = {
  schedules: { type: 'string' },
  seed: { type: 'string' },
  threads: { type: 'string' },
  verbose: { type: 'boolean' },
  replay: { type: 'string' },
  plan: { type: 'string' },
  fresh: { type: 'string' },
  'until-found': { type: 'string' },
  regressions: { type: 'string' },
  journal: { type: 'string' },
  code: { type: 'string' },
} as const;

type Name = keyof typeof SHAPE;

/** Given by the tools to every run, and of no use to some. */
const ALWAYS: readonly Name[] = ['regressions', 'code'];

/** What decides which kind of run it is, and what such a run can be told besides. */
const KINDS_OF_RUN: { readonly [Kind in Name]?: { readonly does: string; readonly takes: readonly Name[] } } = {
  replay: { does: 'tells the story of one seed', takes: [] },
  plan: { does: 'tells the story of one plan', takes: [] },
  fresh: { does: 'draws its own seeds for so long', takes: ['threads', 'verbose'] },
  journal: { does: 'goes on with known seeds', takes: ['schedules', 'seed', 'threads', 'verbose'] },
  'until-found': { does: 'looks for one check', takes: ['schedules', 'seed', 'threads'] },
};

/** @throws InputError when nothing would be run, or something else than was meant. */
export function parseOptions(args: readonly string[]): Options {
  const values = readValues(args);
  refuseContradictions(Object.keys(values) as Name[]);
  const schedules = toCount(values.schedules ?? '1000', 'schedules', { least: 1 });
  const seed = toSeed(values.seed ?? '1', 'seed');
  if (seed + schedules - 1 > LAST_SEED) {
    throw new InputError(
      `--schedules ${schedules} from --seed ${seed} on go past the last seed there is, ${LAST_SEED}`,
    );
  }
  return {
    schedules,
    seed,
    threads: toCount(values.threads ?? '2', 'threads', { least: 1, most: MOST_THREADS }),
    verbose: values.verbose ?? false,
    replay: values.replay === undefined ? null : toSeed(values.replay, 'replay'),
    plan: toFile(values.plan, 'plan'),
    freshSeconds: values.fresh === undefined ? null : toCount(values.fresh, 'fresh', { least: 1 }),
    untilFound: values['until-found'] ?? null,
    regressions: toFile(values.regressions, 'regressions'),
    journal: toFile(values.journal, 'journal'),
    code: values.code ?? '',
  };
}

function readValues(args: readonly string[]): ReturnType<typeof parseArgs<{ options: typeof SHAPE }>>['values'] {
  try {
    return parseArgs({ args: [...args], options: SHAPE }).values;
  } catch (cause) {
    throw new InputError((cause as Error).message, { cause });
  }
}

function refuseContradictions(given: readonly Name[]): void {
  for (const name of given) {
    const kind = KINDS_OF_RUN[name];
    const other = kind && given.find((found) => ![name, ...kind.takes, ...ALWAYS].includes(found));
    if (other) throw new InputError(`--${name} ${kind.does}, and takes no --${other} beside it`);
  }
}

function toSeed(text: string, name: Name): number {
  return toCount(text, name, { least: 0, most: LAST_SEED });
}

function toCount(
  text: string,
  name: Name,
  { least, most = Number.MAX_SAFE_INTEGER }: { readonly least: number; readonly most?: number },
): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} on` : `${least} to ${most}`;
  throw new InputError(`--${name} takes a whole number from ${range}, not "${text}"`);
}

function toFile(path: string | undefined, name: Name): string | null {
  if (path === '') throw new InputError(`--${name} takes the path of a file, not ""`);
  return path ?? null;
}
