/** The program behind `npm run simulate`. */
import { parseOptions, USAGE } from './options.js';
import type { Options } from './options.js';
import { keepRegression, readRegression, shrinkFailure, tellAbout } from './regression.js';
import { toReport } from './report.js';
import { runSafely } from './run-safely.js';
import { runOnThreads } from './thread-pool.js';
import { Totals } from './totals.js';
import type { Failure } from './totals.js';

/** Failing seeds that are shrunk and told: the first ones, since they tend to have one cause. */
const MOST_TOLD = 3;
const PROGRESS_EVERY_MS = 1_000;

process.exitCode = await main();

async function main(): Promise<number> {
  let options: Options;
  try {
    options = parseOptions(process.argv.slice(2));
  } catch (error) {
    print(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (options.replay !== null) return tellStory(options.replay);
  if (options.plan !== null) return tellStory(options.plan);
  return runMany(options);
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
  const firstSeed = isFresh ? newSeed() : options.seed;
  if (isFresh) print(`fresh seeds from ${firstSeed}: whatever they find is reported and decides nothing`);
  const begunAtMs = performance.now();
  const totals = new Totals();
  const endsAtMs = begunAtMs + (options.freshSeconds ?? Infinity) * 1_000;
  const lastSeed = isFresh ? Infinity : firstSeed + options.schedules - 1;
  let seed = firstSeed;
  const isOver = (): boolean =>
    seed > lastSeed || performance.now() > endsAtMs || (options.untilFound && totals.firstFault() !== null);
  const showProgress = progress(lastSeed - firstSeed + 1);
  await runOnThreads({
    threads: options.threads,
    nextSeed: () => (isOver() ? null : seed++),
    onOutcome: (outcome) => {
      totals.add(outcome);
      showProgress(totals);
    },
  });
  totals.failures.sort((one, other) => one.seed - other.seed);
  if (options.untilFound) return reportFirst(totals);
  print(toReport(totals, (performance.now() - begunAtMs) / 1_000, options.verbose));
  for (const failure of totals.failures.slice(0, MOST_TOLD)) await tellFailure(failure, options.regressions);
  const complaints = totals.complaints();
  for (const complaint of complaints) print(`NOT GREEN: ${complaint}`);
  if (complaints.length === 0) print('green');
  return complaints.length === 0 || isFresh ? 0 : 1;
}

/** For whoever starts this program to look for a mutant: one line of JSON. */
function reportFirst(totals: Totals): number {
  const fault = totals.firstFault();
  const [violation] = fault?.violations ?? [];
  print(JSON.stringify({ found: fault !== null, schedules: totals.schedules, violation: violation ?? null }));
  return fault === null ? 0 : 1;
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

function progress(of: number): (totals: Totals) => void {
  let nextAtMs = performance.now() + PROGRESS_EVERY_MS;
  return ({ schedules, failures }) => {
    if (!process.stderr.isTTY || performance.now() < nextAtMs) return;
    nextAtMs = performance.now() + PROGRESS_EVERY_MS;
    const whole = Number.isFinite(of) ? ` of ${of}` : '';
    process.stderr.write(`\r${schedules}${whole} schedules, ${failures.length} broke a rule `);
  };
}

/** Different each time; printed, so that anybody can have it again. */
function newSeed(): number {
  return Date.now() % 1_000_000_000;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
