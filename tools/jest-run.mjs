/** Runs the tests of one kind, in all projects or in one, and reads the report: `node tools/jest-run.mjs unit libs/store`. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { untilTold } from './signals.mjs';
import { NODE, ROOT, projectEnv, run } from './workspace.mjs';

/**
 * The kinds, by the ends of their files' names. What starts servers may take longer. Jest heeds no project's own time
 * limit when it runs several, hence the limits here. Milliseconds.
 */
export const KINDS = {
  unit: { pattern: '\\.spec\\.(ts|mjs)$', limitMs: 30_000 },
  integration: { pattern: '\\.int-spec\\.ts$', limitMs: 120_000 },
  e2e: { pattern: '\\.e2e-spec\\.ts$', limitMs: 120_000 },
};

const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');

/**
 * @param kinds one, or several in the same run
 * @param workers how many suites run at once; the machines that this is for have two cores
 * @returns {Promise<{code: number, passed: number, failed: number, skipped: number, files: string[]}>}
 */
export async function runTests(kinds, { project, workers = 2, hear = null, env: more = {} } = {}) {
  const report = join(ROOT, '.deadman', 'test', `${kinds.join('-')}-${process.pid}.json`);
  mkdirSync(dirname(report), { recursive: true });
  const limitMs = Math.max(...kinds.map((kind) => KINDS[kind].limitMs));
  const place = project ? `^${join(ROOT, project)}/.*` : '';
  const paths = kinds.map((kind) => place + KINDS[kind].pattern);
  const nodeOptions = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const jestOptions = ['--passWithNoTests', '--json', `--outputFile=${report}`, '--testPathPatterns', ...paths];
  const options = [`--maxWorkers=${workers}`, `--testTimeout=${limitMs}`];
  const env = projectEnv({ NODE_ENV: 'test', ...more });
  const code = await run(NODE, [...nodeOptions, JEST, ...jestOptions, ...options], { env, hear });
  const result = readReport(report);
  rmSync(report, { force: true });
  return { code, ...result };
}

function readReport(file) {
  if (!existsSync(file)) return { passed: 0, failed: 0, skipped: 0, files: [] };
  const report = JSON.parse(readFileSync(file, 'utf8'));
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
    files: report.testResults.map(({ name }) => relative(ROOT, name)),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [kind, project] = process.argv.slice(2);
  process.exitCode = await untilTold(async () => (await runTests([kind], { project })).code);
}
