import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseOptions } from '../options.js';
import { perform } from '../run/perform.js';
import type { Places } from '../run/perform.js';
import { SCENARIOS } from '../scenarios/catalogue.js';
import { mutateCode } from './mutant-code.js';
import { MUTANTS } from './mutants.js';
import type { Mutant } from './mutants.js';

/** Small, since each has to show in CI; the TTL is the shortest there is. */
const SMALL = ['--ttl', '2', '--time-scale', '0.05', '--slots', '16', '--jobs', '2000'];

/**
 * Plays, for each mutant whose name has one of the parts that are `wanted`, the scenario that is to show it, on a copy of the code that carries it, and answers whether all
 * went red at the check that is named. A run that is red elsewhere, or breaks off, shows nothing.
 */
export async function findMutants(
  wanted: readonly string[],
  places: Places,
  stop: AbortSignal,
  say: (line: string) => void,
): Promise<boolean> {
  const mutants = MUTANTS.filter(({ name }) => wanted.some((part) => name.includes(part)));
  let found = 0;
  for (const mutant of mutants) {
    const begunMs = performance.now();
    const broken = await brokenBy(mutant, places, stop);
    const isFound = broken.includes(mutant.check);
    if (isFound) found += 1;
    const seconds = Math.round((performance.now() - begunMs) / 1_000);
    const what = `${mutant.scenario}: ${broken.join(', ') || 'green'}`;
    say(`${isFound ? 'found ' : 'MISSED'}  ${mutant.name.padEnd(48)} ${String(seconds).padStart(4)} s  ${what}`);
  }
  say(`${found} of ${mutants.length} mutants found`);
  return mutants.length > 0 && found === mutants.length;
}

/** Names of the checks that go red. */
async function brokenBy(mutant: Mutant, places: Places, stop: AbortSignal): Promise<readonly string[]> {
  const scenario = SCENARIOS.find(({ name }) => name === mutant.scenario)!;
  const options = parseOptions([...SMALL, ...(mutant.options ?? [])]);
  const [code, folder] = [join(places.folder, 'code'), join(places.folder, 'run')];
  mutateCode(places.code, code, mutant.edits);
  try {
    const { judgements } = await perform(scenario, 1, options, { ...places, code, folder }, stop);
    return judgements.flatMap(({ check, count }) => (count > 0 ? [check] : []));
  } catch (error) {
    return [`broken off: ${(error as Error).message}`];
  } finally {
    rmSync(code, { recursive: true, force: true });
  }
}
