/**
 * Puts each mutant of `chaos/simulation/mutants/` into a copy of the code and has it found: by the check of the simulation
 * or by the spec that is named for it, whatever else goes red on the way. Prints for each how it was found, and fails when
 * one is not: then its check no longer sees what it is there for.
 */
import { endOf, startChild } from '../signals.mjs';
import { NODE, ROOT } from '../workspace.mjs';
import { specFails } from './mutant-spec.mjs';
import { readRows, rowOf } from './mutant-table.mjs';
import { copyWithEdits, mainOf, removeCopy } from './source-copy.mjs';

/** Mutants that are looked at side by side, each on one thread. */
const AT_ONCE = 2;
const FIRST_SEED = 1;

/**
 * @param isTable whether the rows of the page's tables are printed in the end
 * @returns {Promise<number>} the exit code: 0 when every mutant was found
 */
export async function findMutants(base, { mutants, isTable }) {
  const left = mutants.entries();
  const verdicts = [];
  const work = async () => {
    for (const [number, mutant] of left) {
      verdicts[number] = await lookFor(base, mutant, number);
      print(mutant, verdicts[number]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const found = verdicts.filter(({ isFound }) => isFound).length;
  process.stdout.write(`${found} of ${mutants.length} mutants found\n`);
  if (isTable) printTable(mutants, verdicts);
  return found === mutants.length ? 0 : 1;
}

function print({ name, rule }, { isFound, how }) {
  process.stdout.write(`${isFound ? 'found ' : 'MISSED'}  ${rule.padEnd(4)} ${name.padEnd(62)} ${how}\n`);
}

/** In two parts, as on the page. A mutant that was missed has no row to be written down. */
function printTable(mutants, verdicts) {
  const found = mutants.map((mutant, index) => ({ mutant, ...verdicts[index] })).filter(({ isFound }) => isFound);
  const bySpec = Object.groupBy(found, ({ mutant }) => String(mutant.spec !== undefined));
  for (const rows of Object.values(bySpec)) {
    process.stdout.write(`\n${rows.map(({ mutant, schedules }) => rowOf(mutant, schedules)).join('\n')}\n`);
  }
}

async function lookFor(base, mutant, number) {
  if (mutant.spec !== undefined) return lookWithSpec(mutant, number);
  const copy = copyWithEdits(base, `mutant-${process.pid}-${number}`, mutant.edits);
  try {
    const args = ['--schedules', mutant.budget, '--seed', FIRST_SEED, '--threads', '1', '--until-found', mutant.check];
    return judge(mutant, JSON.parse(await output(mainOf(copy), args.map(String))));
  } finally {
    removeCopy(copy);
  }
}

/** @param found how many schedules it took until the mutant's own check went red, or null and what did instead */
export function judge(mutant, { schedules, instead }) {
  const other = instead === null ? '' : `, which broke ${instead}`;
  if (schedules === null)
    return { isFound: false, how: `not by ${mutant.check} in ${mutant.budget} schedules${other}` };
  return { isFound: true, schedules, how: `${mutant.check}, ${schedules}${difference(mutant, schedules)}` };
}

/** Told and nothing more: any change of the engine's timing moves the number. */
function difference({ name }, schedules) {
  const written = readRows().find((row) => row.name === name)?.schedules;
  return written === String(schedules) ? '' : ` (the page says ${written ?? 'nothing'}; --table prints its rows)`;
}

async function lookWithSpec({ spec, edits }, number) {
  const isFound = await specFails(spec, edits, `spec-${process.pid}-${number}`);
  return { isFound, how: isFound ? spec : `${spec} is green all the same` };
}

async function output(file, args) {
  const child = startChild(NODE, [file, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  const code = await endOf(child);
  if (text === '') throw new Error(`A mutant's run said nothing and ended with ${code}.`);
  return text;
}
