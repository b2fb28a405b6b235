/**
 * Puts each mutant of `chaos/simulation/mutants/` into a copy of the code and has it found: by schedules, or by the spec
 * that is named for it. Prints for each which check found it and after how many schedules, and fails when one is not found.
 */
import { spawn } from 'node:child_process';
import { MUTANTS } from '../../chaos/simulation/mutants/mutants.mjs';
import { NODE, ROOT } from '../workspace.mjs';
import { specFails } from './mutant-spec.mjs';
import { copyWithEdits, mainOf, removeCopy } from './source-copy.mjs';

/** Mutants that are looked at side by side, each on one thread. */
const AT_ONCE = 2;
const FIRST_SEED = 1;

/** @returns {Promise<number>} the exit code: 0 when every mutant was found */
export async function findMutants(base, wanted) {
  const mutants = MUTANTS.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
  const left = mutants.entries();
  let missed = 0;
  const work = async () => {
    for (const [number, mutant] of left) {
      const verdict = await lookFor(base, mutant, number);
      if (!verdict.isFound) missed += 1;
      print(mutant, verdict);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  process.stdout.write(`${mutants.length - missed} of ${mutants.length} mutants found\n`);
  return missed === 0 && mutants.length > 0 ? 0 : 1;
}

function print({ name, rule }, { isFound, how }) {
  process.stdout.write(`${isFound ? 'found ' : 'MISSED'}  ${rule.padEnd(4)} ${name.padEnd(62)} ${how}\n`);
}

async function lookFor(base, mutant, number) {
  if (mutant.spec !== undefined) return lookWithSpec(mutant, number);
  const copy = copyWithEdits(base, `mutant-${process.pid}-${number}`, mutant.edits);
  try {
    const args = ['--schedules', mutant.budget, '--seed', FIRST_SEED, '--threads', '1', '--until-found'];
    const found = JSON.parse(await output(mainOf(copy), args.map(String)));
    const how = found === null ? `not in ${mutant.budget} schedules` : `${found.check}, ${found.schedules}`;
    return { isFound: found !== null, how };
  } finally {
    removeCopy(copy);
  }
}

async function lookWithSpec({ spec, edits }, number) {
  const isFound = await specFails(spec, edits, `spec-${process.pid}-${number}`);
  return { isFound, how: isFound ? spec : `${spec} is green all the same` };
}

function output(file, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(NODE, [file, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      if (text === '') reject(new Error(`A mutant's run said nothing and ended with ${code}.`));
      else resolve(text);
    });
  });
}
