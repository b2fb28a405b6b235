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
import { ToldToEnd, untilTold } from './signals.mjs';
import { ROOT, run } from './workspace.mjs';

/** Files that ran, of all kinds. */
const ran = new Set();

let buildResult = null;

/** In the order in which they start. Each is given where its output goes: null is the terminal. */
const TOGETHER = {
  build: async () => ({ code: await built() }),
  lint: (hear) => check('oxlint', ['--type-aware'], hear),
  boundaries: (hear) => check('node', ['tools/check-boundaries.mjs'], hear),
  format: (hear) => check('prettier', ['--check', '--log-level=warn', '.'], hear),
  // Beside the build it would write the same files.
  typecheck: (hear) => built().then(() => check('tsc', ['-b'], hear)),
  reference: (hear) => ifBuilt(() => check('node', ['tools/reference.mjs', '--check'], hear)),
};

/** They compute all the time, and would be no sooner beside something else. */
const ALONE = {
  unit: () => tests(['unit'], { workers: 2 }),
};

/**
 * The tests that need servers: together where both kinds are wanted, on servers that are started once. They compute half
 * of the time and wait for the rest, for processes and timers, so that three suites keep two cores busy. Whatever faults
 * a server has one of its own, and what else a suite needs it makes for itself, so that none hurts another.
 */
const ON_SERVERS = ['integration', 'e2e'];
const SUITES_AT_ONCE = 3;

const CI_ALONE = {
  examples: () => ifBuilt(() => check('node', ['examples/check.mjs'], null)),
  readme: () => ifBuilt(() => check('node', ['tools/readme.mjs'], null)),
  demo: () => ifBuilt(() => check('node', ['tools/demo.mjs'], null)),
  chaos: () => ifBuilt(() => check('node', ['tools/chaos-small.mjs'], null)),
  model,
  mutants: () => check('node', ['tools/simulate.mjs', '--mutants'], null),
  // What new seeds find is shown, and decides nothing: a change is not to blame for what was there before it.
  fresh: () => check('node', ['tools/simulate.mjs', '--fresh', '30', '--keep-nothing'], null),
};

const STEPS = [...Object.keys(TOGETHER), ...Object.keys(ALONE), ...ON_SERVERS];
const EVERY_STEP = [...STEPS, ...Object.keys(CI_ALONE)];

/** What `tools/model.mjs` ends with when there is no Spin. */
const MODEL_CHECKER_MISSING = 3;

/** How many steps run at the same time. */
const LANES = 2;

if (process.argv.includes('--full')) process.env.DEADMAN_TEST_FULL = '1';

const wantedNames = wantedSteps();
process.exitCode = await untilTold(() => main(wantedNames));

async function main(wanted) {
  const nothing = { passed: 0, failed: 0, skipped: 0 };
  const installed = { code: await succeeds(ensureInstalled) };
  if (installed.code !== 0) return finish(tallied(nothing, installed));
  const results = await runSteps(wanted);
  if (STEPS.every((name) => wanted.includes(name))) {
    results.push(await timed('every spec file ran', everySpecFileRan, 1));
  }
  return finish(results.reduce(tallied, nothing));
}

async function runSteps(wanted) {
  const results = [];
  const take = async (steps, atOnce) => {
    const names = wanted.filter((name) => name in steps);
    const lanes = Math.min(atOnce, names.length);
    const lane = async () => {
      for (let name = names.shift(); name; name = names.shift()) results.push(await timed(name, steps[name], lanes));
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  };
  await take(TOGETHER, LANES);
  await take(ALONE, 1);
  const kinds = ON_SERVERS.filter((kind) => wanted.includes(kind));
  if (kinds.length > 0) results.push(await timed(kinds.join(', '), () => onServers(kinds), 1));
  await take(CI_ALONE, 1);
  return results;
}

function wantedSteps() {
  const at = process.argv.indexOf('--only');
  if (at === -1) return process.argv.includes('--all') ? EVERY_STEP : STEPS;
  const names = (process.argv[at + 1] ?? '').split(',');
  const unknown = names.filter((name) => !EVERY_STEP.includes(name));
  if (unknown.length === 0) return names;
  process.stderr.write(`Unknown step: ${unknown.join(', ')}. There are: ${EVERY_STEP.join(', ')}.\n`);
  process.exit(2);
}

async function timed(name, step, lanes) {
  const title = Buffer.from(`\n── ${name}\n`);
  process.stdout.write(lanes > 1 ? `── ${name} starts\n` : title);
  const start = performance.now();
  const said = [title];
  const result = await step(lanes > 1 ? (chunk) => said.push(chunk) : null);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (lanes > 1) process.stdout.write(Buffer.concat(said));
  process.stdout.write(`── ${name}: ${result.code === 0 ? 'ok' : 'FAILED'} (${seconds} s)\n`);
  return result;
}

async function check(command, args, hear) {
  return { code: await run(command, args, { hear }) };
}

/** Skipped where Spin cannot be had. */
async function model() {
  const code = await run('node', ['tools/model.mjs']);
  return code === MODEL_CHECKER_MISSING ? { code: 0, skipped: 1 } : { code };
}

async function ifBuilt(act) {
  const code = await built();
  return code === 0 ? act() : { code };
}

/** Once per run. Integration tests read the sources, and need no more of it than what starts their servers. */
function built() {
  buildResult ??= succeeds(ensureBuilt);
  return buildResult;
}

/** End-to-end tests start what was built. Integration tests read the sources, and only their servers are of the build. */
async function onServers(kinds) {
  let result = { code: 1 };
  if ((await built()) !== 0 && kinds.includes('e2e')) return result;
  await succeeds(() =>
    withTestServer((url) =>
      withTestStack(async (env) => {
        result = await tests(kinds, { workers: SUITES_AT_ONCE, env: { ...env, DEADMAN_TEST_DATABASE_URL: url } });
      }),
    ),
  );
  return result;
}

async function tests(kinds, options) {
  const result = await runTests(kinds, options);
  for (const file of result.files) ran.add(file);
  return result;
}

async function succeeds(act) {
  try {
    await act();
    return 0;
  } catch (error) {
    if (error instanceof ToldToEnd) throw error;
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
  return tally.failed === 0 ? 0 : 1;
}
