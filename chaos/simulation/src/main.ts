/** The program behind `npm run simulate`. Ends with 0 when all was green, 1 when something was not, 2 for what it cannot use. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { findFault } from './find-fault.js';
import { InputError } from './input-error.js';
import { runJournalled } from './journal.js';
import { parseOptions, USAGE } from './options.js';
import type { Options } from './options.js';
import { keepRegression, readRegression, shrinkFailure, tellAbout } from './regression.js';
import { toReport } from './report.js';
import { runSafely } from './run-safely.js';
import { runSeeds } from './run-seeds.js';
import type { TimedTotals } from './run-seeds.js';
import type { Failure } from './totals.js';

/** Failing seeds that are shrunk and told: the first ones, since they tend to have one cause. */
const MOST_TOLD = 3;

process.exitCode = await main();

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    print(USAGE);
    return 0;
  }
  try {
    return await act(readOptions(args));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    print(error.message);
    return 2;
  }
}

function readOptions(args: readonly string[]): Options {
  try {
    return parseOptions(args);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(`${error.message}\n\n${USAGE}`, { cause: error });
  }
}

function act(options: Options): Promise<number> {
  if (options.replay !== null) return tellStory(options.replay);
  if (options.plan !== null) return tellStory(options.plan);
  const { untilFound: check } = options;
  return check === null ? runMany(options) : reportFirst(check, options);
}

async function tellStory(what: number | string): Promise<number> {
  const { violations, story, hash } = await runSafely(
    typeof what === 'number' ? what : readRegression(what).plan,
    true,
  );
  const [first] = violations;
  for (const line of first === undefined || first.jobId === '' ? story.lines : tellAbout(first, story)) print(line);
  for (const { check, jobId, message } of violations) print(`${check}: ${jobId} ${message}`);
  print(`${violations.length} rules broken, trace ${hash}`);
  return violations.length === 0 ? 0 : 1;
}

async function runMany(options: Options): Promise<number> {
  const isFresh = options.freshSeconds !== null;
  const { totals, seconds } =
    options.journal === null
      ? await runOnce(options)
      : await runJournalled({ ...options, file: toWritable(options.journal), say: print });
  totals.failures.sort((one, other) => one.seed - other.seed);
  print(toReport(totals, seconds, options.verbose));
  for (const failure of totals.failures.slice(0, MOST_TOLD)) await tellFailure(failure, options.regressions);
  for (const { seed, violations } of totals.failures.slice(MOST_TOLD)) {
    print(`seed ${seed} broke ${violations[0]!.check}, too: --replay ${seed} tells of it`);
  }
  const complaints = totals.complaints();
  for (const complaint of complaints) print(`NOT GREEN: ${complaint}`);
  if (complaints.length === 0) print('green');
  return complaints.length === 0 || isFresh ? 0 : 1;
}

async function runOnce({ seed, schedules, threads, freshSeconds }: Options): Promise<TimedTotals> {
  if (freshSeconds === null) return runSeeds({ firstSeed: seed, schedules, threads });
  const firstSeed = newSeed();
  print(`fresh seeds from ${firstSeed}: whatever they find is reported and decides nothing`);
  return runSeeds({ firstSeed, schedules: Infinity, threads, withinMs: freshSeconds * 1_000 });
}

/** For whoever starts this program to look for a mutant: one line of JSON. */
async function reportFirst(check: string, { seed, schedules, threads }: Options): Promise<number> {
  const found = await findFault(check, { firstSeed: seed, schedules, threads });
  print(JSON.stringify(found));
  return found.schedules === null ? 0 : 1;
}

async function tellFailure({ seed, violations: [first] }: Failure, folder: string | null): Promise<void> {
  const { check, message } = first!;
  print(`\nseed ${seed} broke ${check}: ${message}`);
  const shrunk = await shrinkFailure(seed, check);
  if (shrunk === null) return print('  It does not do so again: something in it is not decided by the seed.');
  print(`as small as it gets: ${JSON.stringify(shrunk.regression.plan)}\n`);
  for (const line of shrunk.story) print(`  ${line}`);
  print(`  ${shrunk.violation.check}: ${shrunk.violation.message}`);
  if (folder !== null) print(`kept as ${keepRegression(folder, shrunk.regression)}`);
}

/** Asked at once: otherwise it would show after the first seeds, which would be lost. */
function toWritable(file: string): string {
  try {
    mkdirSync(dirname(file), { recursive: true });
    closeSync(openSync(file, 'a+'));
    return file;
  } catch (cause) {
    throw new InputError(`${file} cannot be written: ${(cause as Error).message}`, { cause });
  }
}

/** Different each time; printed, so that anybody can have it again. */
function newSeed(): number {
  return Date.now() % 1_000_000_000;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
