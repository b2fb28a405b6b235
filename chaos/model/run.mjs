/**
 * Checks the Spin models: as they stand they have to hold, and with any one rule left out they have to fail. Needs `spin`
 * and a C compiler: `node chaos/model/run.mjs`. Exits with 0 when all is as it should be, 1 when not.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODELS = ['fence', 'reap'];
const FOLDER = fileURLToPath(new URL('.', import.meta.url));
/** Far above the depth that any of the models reaches: a search that was cut short proves nothing. */
const DEPTH = 1_000_000;
const WITHIN_MS = 120_000;

let isAsItShouldBe = true;
for (const model of MODELS) {
  for (const variant of [null, ...variantsOf(model)]) report(model, variant, check(model, variant));
}
process.exitCode = isAsItShouldBe ? 0 : 1;

/** The variants that a model's head lists, one a line: the name in capitals, then what is left out. */
function variantsOf(model) {
  const [head] = readFileSync(join(FOLDER, `${model}.pml`), 'utf8').split('*/');
  return [...head.matchAll(/^ \* {3}([A-Z_]+) {2,}/gm)].map(([, name]) => name);
}

/** Builds the verifier of a variant and runs it. */
function check(model, variant) {
  const folder = mkdtempSync(join(tmpdir(), 'deadman-model-'));
  const run = (command, args) => execFileSync(command, args, { cwd: folder, encoding: 'utf8', timeout: WITHIN_MS });
  try {
    run('spin', [...(variant === null ? [] : [`-D${variant}`]), '-a', join(FOLDER, `${model}.pml`)]);
    run('cc', ['-O2', '-DSAFETY', '-o', 'pan', 'pan.c']);
    const said = run('./pan', ['-E', `-m${DEPTH}`]);
    if (said.includes('max search depth too small')) throw new Error(`${model}: the search was cut short`);
    const [, errors] = /errors: (\d+)/.exec(said) ?? [];
    const [, states] = /([\d.e+]+) states, stored/.exec(said) ?? [];
    return { errors: Number(errors), states: Number(states) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(model, variant, { errors, states }) {
  const isRight = variant === null ? errors === 0 : errors > 0;
  if (!isRight) isAsItShouldBe = false;
  const outcome = errors === 0 ? 'holds' : 'fails';
  const name = variant === null ? `${model} as it stands` : `${model} with ${variant}`;
  process.stdout.write(`${isRight ? 'ok    ' : 'WRONG '} ${name.padEnd(32)} ${outcome}, ${states} states\n`);
}
