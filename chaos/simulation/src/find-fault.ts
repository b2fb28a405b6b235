import { runSeeds } from './run-seeds.js';
import type { SeedRange } from './run-seeds.js';

/** The first rule that was broken, and after how many schedules. */
export interface Find {
  readonly check: string;
  readonly schedules: number;
}

/** Runs seeds until something is wrong. Null when nothing is. */
export async function findFault(range: SeedRange): Promise<Find | null> {
  const { totals } = await runSeeds({ ...range, untilFound: true });
  const fault = totals.firstFault();
  if (fault === null) return null;
  const schedules = fault.seed === null ? totals.schedules : fault.seed - range.firstSeed + 1;
  return { check: fault.violations[0]!.check, schedules };
}
