import { runSeeds } from './run-seeds.js';
import type { SeedRange } from './run-seeds.js';

export interface Find {
  /** How many schedules it took until one broke the check; null when none did. */
  readonly schedules: number | null;
  /** The check that the first failing schedule broke, when none broke the one that was looked for. */
  readonly instead: string | null;
}

/** Runs seeds until one breaks this check, whichever others are broken on the way. */
export async function findFault(check: string, range: SeedRange): Promise<Find> {
  const { totals } = await runSeeds({ ...range, untilFound: check });
  const fault = totals.firstFault(check);
  if (fault === null) return { schedules: null, instead: totals.failures[0]?.violations[0]?.check ?? null };
  return { schedules: fault.seed === null ? totals.schedules : fault.seed - range.firstSeed + 1, instead: null };
}
