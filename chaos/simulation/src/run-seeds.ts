import { runOnThreads } from './thread-pool.js';
import { Totals } from './totals.js';

const PROGRESS_EVERY_MS = 1_000;

export interface SeedRange {
  readonly firstSeed: number;
  /** How many seeds follow each other. */
  readonly schedules: number;
  readonly threads: number;
  /** No seed is begun after so long. Milliseconds. */
  readonly withinMs?: number;
  /** Stops at the first schedule that breaks this check. */
  readonly untilFound?: string;
}

export interface TimedTotals {
  readonly totals: Totals;
  readonly seconds: number;
}

/** Runs seeds that follow each other and sums them up. */
export async function runSeeds({
  firstSeed,
  schedules,
  threads,
  withinMs = Infinity,
  untilFound,
}: SeedRange): Promise<TimedTotals> {
  const totals = new Totals();
  const begunAtMs = performance.now();
  let seed = firstSeed;
  const isOver = (): boolean =>
    seed >= firstSeed + schedules ||
    performance.now() > begunAtMs + withinMs ||
    (untilFound !== undefined && totals.firstFault(untilFound) !== null);
  const showProgress = progress(schedules);
  await runOnThreads({
    threads,
    nextSeed: () => (isOver() ? null : seed++),
    onOutcome: (outcome) => {
      totals.add(outcome);
      showProgress(totals);
    },
  });
  return { totals, seconds: (performance.now() - begunAtMs) / 1_000 };
}

/** Tells a person who waits at a terminal how far it is. */
function progress(of: number): (totals: Totals) => void {
  let nextAtMs = performance.now() + PROGRESS_EVERY_MS;
  return ({ schedules, failures }) => {
    if (!process.stderr.isTTY || performance.now() < nextAtMs) return;
    nextAtMs = performance.now() + PROGRESS_EVERY_MS;
    const whole = Number.isFinite(of) ? ` of ${of}` : '';
    process.stderr.write(`\r${schedules}${whole} schedules, ${failures.length} broke a rule `);
  };
}
