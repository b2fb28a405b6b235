/** Makes the copy of the code that a simulation runs, and runs it there; with `--mutants`, many copies. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { NODE, ROOT } from '../workspace.mjs';
import { findMutants } from './mutants.mjs';
import { codeOf, copySources, mainOf, removeCopy } from './source-copy.mjs';

const REGRESSIONS = join(ROOT, 'chaos', 'simulation', 'regressions');

const args = process.argv.slice(2);
const copy = copySources(`run-${process.pid}`);
try {
  process.exitCode = args[0] === '--mutants' ? await findMutants(copy, args.slice(1)) : simulate();
} finally {
  removeCopy(copy);
}

function simulate() {
  const isKept = !args.includes('--keep-nothing');
  const given = args.filter((arg) => arg !== '--keep-nothing');
  const kept = isKept ? ['--regressions', REGRESSIONS] : [];
  const { status } = spawnSync(NODE, [mainOf(copy), ...given, ...kept, '--code', codeOf(copy)], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  return status ?? 1;
}
