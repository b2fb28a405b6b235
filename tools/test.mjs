/**
 * `npm test`: everything that has to hold before a commit, in one command that also works on a fresh clone.
 *
 * All steps run, whatever failed before them, and the last line is the sum: `N passed, N failed`. A step that is not
 * made of tests, or failed without one failing, counts as one failure. `--only unit` (or another step's name, several
 * separated by commas) runs less, and then does not ask whether every spec file ran. `--all` adds the steps that only
 * CI needs. `--full` (`npm run test:full`) lets outages and leases in the end-to-end tests last as long as in life.
 */
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { runTests } from './jest-run.mjs';
import { withTestServer, withTestStack } from './test-server.mjs';
import { closingLine, forgottenSpecs, tallied } from './verdict.mjs';
import { ROOT, run } from './workspace.mjs';

/** Files that ran, of all kinds. */
const ran = new Set();

let buildResult = null;

const STEPS = {
  lint: () => check('oxlint', ['--type-aware']),
  format: () => check('prettier', ['--check', '--log-level=warn', '.']),
  boundaries: () => check('node', ['tools/check-boundaries.mjs']),
  build: async () => ({ code: await built() }),
  typecheck: () => check('tsc', ['-b']),
  reference: () => built().then((code) => (code === 0 ? check('node', ['tools/reference.mjs', '--check']) : { code })),
  unit: () => tests('unit'),
  integration: () => built().then(() => withServer('integration')),
  e2e: () => built().then((code) => (code === 0 ? withServer('e2e') : { code })),
};

const CI_STEPS = {
  examples: () => built().then((code) => (code === 0 ? check('node', ['examples/check.mjs']) : { code })),
  readme: () => built().then((code) => (code === 0 ? check('node', ['tools/readme.mjs']) : { code })),
  demo: () => built().then((code) => (code === 0 ? check('node', ['tools/demo.mjs']) : { code })),
};

const EVERY_STEP = { ...STEPS, ...CI_STEPS };

if (process.argv.includes('--full')) process.env.DEADMAN_TEST_FULL = '1';

await main(wantedSteps());

async function main(wanted) {
  const nothing = { passed: 0, failed: 0, skipped: 0 };
  const installed = { code: await succeeds(ensureInstalled) };
  if (installed.code !== 0) return finish(tallied(nothing, installed));
  let tally = nothing;
  for (const name of wanted) tally = tallied(tally, await timed(name, EVERY_STEP[name]));
  if (Object.keys(STEPS).every((name) => wanted.includes(name))) {
    tally = tallied(tally, await timed('every spec file ran', everySpecFileRan));
  }
  finish(tally);
}

function wantedSteps() {
  const at = process.argv.indexOf('--only');
  if (at === -1) return Object.keys(process.argv.includes('--all') ? EVERY_STEP : STEPS);
  const names = (process.argv[at + 1] ?? '').split(',');
  const unknown = names.filter((name) => !(name in EVERY_STEP));
  if (unknown.length === 0) return names;
  process.stderr.write(`Unknown step: ${unknown.join(', ')}. There are: ${Object.keys(EVERY_STEP).join(', ')}.\n`);
  process.exit(2);
}

async function timed(name, step) {
  process.stdout.write(`\n── ${name}\n`);
  const start = performance.now();
  const result = await step();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(`── ${name}: ${result.code === 0 ? 'ok' : 'FAILED'} (${seconds} s)\n`);
  return result;
}

async function check(command, args) {
  return { code: await run(command, args) };
}

/** Once per run. Integration tests read the sources, and need no more of it than what starts their servers. */
function built() {
  buildResult ??= succeeds(ensureBuilt);
  return buildResult;
}

async function withServer(kind) {
  let result = { code: 1 };
  await succeeds(() =>
    withTestServer((url) =>
      withTestStack(async (env) => {
        result = await tests(kind, { ...env, DEADMAN_TEST_DATABASE_URL: url });
      }),
    ),
  );
  return result;
}

async function tests(kind, env) {
  const result = await runTests(kind, { env });
  for (const file of result.files) ran.add(file);
  return result;
}

async function succeeds(act) {
  try {
    await act();
    return 0;
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

/** A spec file outside every project's reach would otherwise be green for ever. */
function everySpecFileRan() {
  const forgotten = forgottenSpecs(ROOT, ran);
  for (const file of forgotten) process.stderr.write(`No project ran ${file}.\n`);
  return { code: forgotten.length === 0 ? 0 : 1 };
}

function finish(tally) {
  process.stdout.write(`\n${closingLine(tally)}\n`);
  process.exitCode = tally.failed === 0 ? 0 : 1;
}
