/** Makes the copy of the code that a simulation runs, and runs it there; with `--mutants`, many copies. */
import { join } from 'node:path';
import { untilTold } from '../signals.mjs';
import { NODE, ROOT, run } from '../workspace.mjs';
import { findMutants } from './mutants.mjs';
import { codeOf, copySources, mainOf, removeCopy } from './source-copy.mjs';

const REGRESSIONS = join(ROOT, 'chaos', 'simulation', 'regressions');

const args = process.argv.slice(2);
process.exitCode = await untilTold(async () => {
  const copy = copySources(`run-${process.pid}`);
  try {
    return args[0] === '--mutants' ? await findMutants(copy, args.slice(1)) : await simulate(copy);
  } finally {
    removeCopy(copy);
  }
});

function simulate(copy) {
  const isKept = !args.includes('--keep-nothing');
  const given = args.filter((arg) => arg !== '--keep-nothing');
  const kept = isKept ? ['--regressions', REGRESSIONS] : [];
  return run(NODE, [mainOf(copy), ...given, ...kept, '--code', codeOf(copy)]);
}
