import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Dice } from './dice.js';
import { planFaults } from './fault-plan.js';
import type { FaultPlan } from './fault-plan.js';
import { InputError } from './input-error.js';
import type { Violation } from './invariants.js';
import { KeptPlan, tellFaults } from './plan-schema.js';
import { runSafely } from './run-safely.js';
import { shrinkPlan } from './shrink.js';
import { nameOf } from './story.js';

/** A plan that broke a rule once. It is run for ever, and has to keep it. */
export interface Regression {
  readonly seed: number;
  readonly check: string;
  /** What was wrong, in a sentence or two; by whoever mended it. */
  readonly note: string;
  readonly plan: FaultPlan;
}

/** What is left of a failing seed once it was made as small as it gets. */
export interface ShrunkFailure {
  readonly regression: Regression;
  readonly violation: Violation;
  readonly story: readonly string[];
}

/** Longest story that is worth printing, in lines. */
const MOST_LINES = 120;

/** Makes a failing seed small, and tells what happens in it. Null when it does not fail again. */
export async function shrinkFailure(seed: number, check: string): Promise<ShrunkFailure | null> {
  const breaks = async (candidate: FaultPlan): Promise<boolean> =>
    (await runSafely(candidate)).violations.some((violation) => violation.check === check);
  const whole = planFaults(new Dice(seed));
  if (!(await breaks(whole))) return null;
  const plan = await shrinkPlan(whole, breaks);
  const { violations, story } = await runSafely(plan, true);
  const violation = violations.find((found) => found.check === check)!;
  const regression = { seed, check, note: violation.message, plan };
  return { regression, violation, story: tellAbout(violation, story).slice(-MOST_LINES) };
}

export function tellAbout(
  { jobId }: Violation,
  story: { about(subjects: readonly string[]): readonly string[] },
): readonly string[] {
  return story.about(jobId === '' ? [] : [nameOf(jobId)]);
}

/**
 * Writes a new file, also when one of this name is there: a seed means another plan once `fault-plan.ts` has changed. A plan
 * that is kept already is not written again. Returns the file that holds it.
 */
export function keepRegression(folder: string, regression: Regression): string {
  mkdirSync(folder, { recursive: true });
  const check = regression.check
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  const name = `${regression.seed}-${check}`;
  for (let number = 1; ; number += 1) {
    const file = join(folder, number === 1 ? `${name}.json` : `${name}-${number}.json`);
    if (!existsSync(file)) {
      writeFileSync(file, `${JSON.stringify(regression, null, 2)}\n`, { flag: 'wx' });
      return file;
    }
    if (isDeepStrictEqual(readRegression(file).plan, regression.plan)) return file;
  }
}

/** @throws InputError when the file cannot be read, or holds no plan that can be run; it names the places in the file. */
export function readRegression(file: string): Regression {
  const parsed = KeptPlan.safeParse(readJson(file));
  if (parsed.success) return parsed.data;
  throw new InputError(`${file} holds no plan that can be run:\n${tellFaults(parsed.error)}`);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new InputError(`${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** All that are kept, by file name; none when there is no such folder. */
export function readRegressions(folder: string): ReadonlyMap<string, Regression> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted();
  return new Map(names.map((name) => [name, readRegression(join(folder, name))]));
}
