/** Makes the copy of the code that a simulation runs, and runs it there; with `--mutants`, many copies. */
import { join } from 'node:path';
import { untilTold } from '../signals.mjs';
import { NODE, ROOT, run } from '../workspace.mjs';
import { asksForMutants, parseMutantOptions, UnusableOptions } from './mutant-options.mjs';
import { findMutants } from './mutants.mjs';
import { codeOf, copySources, mainOf, removeCopy } from './source-copy.mjs';

const REGRESSIONS = join(ROOT, 'chaos', 'simulation', 'regressions');

const args = process.argv.slice(2);
process.exitCode = await untilTold(async () => {
  try {
    return await (asksForMutants(args) ? search(parseMutantOptions(args)) : inCopy(simulate));
  } catch (error) {
    if (!(error instanceof UnusableOptions)) throw error;
    process.stdout.write(`${error.message}; --help says what there is\n`);
    return 2;
  }
});

function search(options) {
  return inCopy((copy) => findMutants(copy, options));
}

async function inCopy(act) {
  const copy = copySources(`run-${process.pid}`);
  try {
    return await act(copy);
  } finally {
    removeCopy(copy);
  }
}

function simulate(copy) {
  const isKept = !args.includes('--keep-nothing');
  const given = args.filter((arg) => arg !== '--keep-nothing');
  const kept = isKept ? ['--regressions', REGRESSIONS] : [];
  return run(NODE, [mainOf(copy), ...given, ...kept, '--code', codeOf(copy)]);
}
