/** Runs the tests of one kind, in all projects or in one, and reads the report: `node tools/jest-run.mjs unit libs/store`. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE, ROOT, projectEnv, run } from './workspace.mjs';

/**
 * The kinds, by the ends of their files' names. What starts servers may take longer. End-to-end tests mostly wait for
 * processes, so two suites share the machine well; each has servers, or databases and topics on them, of its own. Jest
 * heeds no project's own time limit when it runs several, hence the limits here. Milliseconds.
 */
export const KINDS = {
  unit: { pattern: '\\.spec\\.(ts|mjs)$', options: ['--maxWorkers=2', '--testTimeout=30000'] },
  integration: { pattern: '\\.int-spec\\.ts$', options: ['--maxWorkers=2', '--testTimeout=120000'] },
  e2e: { pattern: '\\.e2e-spec\\.ts$', options: ['--maxWorkers=2', '--testTimeout=120000'] },
};

const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');

/** @returns {Promise<{code: number, passed: number, failed: number, skipped: number, files: string[]}>} */
export async function runTests(kind, { project, hear = null, env: more = {} } = {}) {
  const { pattern, options } = KINDS[kind];
  const report = join(ROOT, '.deadman', 'test', `${kind}-${process.pid}.json`);
  mkdirSync(dirname(report), { recursive: true });
  const paths = project ? `^${join(ROOT, project)}/.*${pattern}` : pattern;
  const nodeOptions = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const jestOptions = ['--passWithNoTests', '--json', `--outputFile=${report}`, '--testPathPatterns', paths];
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
  process.exitCode = (await runTests(kind, { project })).code;
}
