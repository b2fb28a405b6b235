import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../run/frozen-code.js';

/** A fault that a test injects, and how to run that test alone. */
export interface TestedFault {
  readonly number: string;
  readonly fault: string;
  readonly command: string;
}

/** A row of the page: number, fault, what has to come of it, and the test as a link to its file and its title. */
const ROW = /^\| (\d+) \| ([^|]+) \| [^|]+ \| \[[^\]]+\]\(\.\.\/([^)]+)\): `([^`]+)` \|$/gm;

/** The faults of `docs/scenarios.md`, which the tests of the repository inject. */
export function testedElsewhere(): readonly TestedFault[] {
  const page = readFileSync(join(ROOT, 'docs', 'scenarios.md'), 'utf8');
  return [...page.matchAll(ROW)].map(([, number, fault, file, title]) => ({
    number: number!,
    fault: fault!.trim(),
    command: `npm run jest -- ${file} -t ${JSON.stringify(title!.split('%s')[0]!.trim())}`,
  }));
}
