/**
 * `npm run model`: checks the Spin models of `chaos/model`. What they need is installed where that can be done (as root
 * on Debian). Exits with 0 when every model is as it should be, 1 when one is not, and 3 when Spin is not there, which says
 * nothing about the models.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureStackBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { untilTold } from './signals.mjs';
import { NODE, ROOT, run } from './workspace.mjs';

const NOT_THERE = 3;

/** Debian's package for each program: Spin writes a verifier in C. */
const PACKAGES = { spin: ['spin'], cc: ['gcc', 'libc6-dev'] };

process.exitCode = await untilTold(async () =>
  (await isThere()) ? run(NODE, [join(ROOT, 'chaos', 'model', 'run.mjs')]) : NOT_THERE,
);

async function isThere() {
  const missing = Object.keys(PACKAGES).filter((program) => spawnSync(program, ['--version']).error !== undefined);
  if (missing.length === 0) return true;
  await ensureInstalled();
  await ensureStackBuilt();
  const { installPackages, StackError } = await import('../libs/stack/dist/index.js');
  try {
    const packages = missing.flatMap((program) => PACKAGES[program]);
    await installPackages(packages, (line) => process.stdout.write(`${line}\n`));
    return true;
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    process.stdout.write(
      `The models were not checked, since ${missing.join(' and ')} cannot be had here. ${error.message}\n`,
    );
    return false;
  }
}
