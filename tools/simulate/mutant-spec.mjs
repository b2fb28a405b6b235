/** Runs one spec against a copy of its project that carries a mutant. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endOf, startChild } from '../signals.mjs';
import { NODE, ROOT, projectEnv } from '../workspace.mjs';

const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
const FLAGS = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];

/**
 * @returns {Promise<boolean>} whether a test of the spec is red with the edits, all of which are to its own project. Throws
 * when the spec does not run at all, which proves nothing.
 */
export async function specFails(spec, edits, name) {
  const home = join(ROOT, '.deadman', 'simulation', name);
  const project = spec.split('/').slice(0, 2).join('/');
  const folder = join(home, project);
  try {
    mkdirSync(folder, { recursive: true });
    for (const part of ['src', 'package.json'])
      cpSync(join(ROOT, project, part), join(folder, part), { recursive: true });
    writeFileSync(join(folder, 'jest.config.js'), config());
    for (const { file, from, to } of edits) edit(join(home, file), from, to);
    return await isRed(folder, spec);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function isRed(folder, spec) {
  const report = join(folder, 'report.json');
  const which = [
    '--config',
    join(folder, 'jest.config.js'),
    '--runTestsByPath',
    join(folder, ...spec.split('/').slice(2)),
  ];
  const args = [...FLAGS, JEST, ...which, '--ci', '--json', `--outputFile=${report}`];
  const env = projectEnv({ NODE_ENV: 'test' });
  await endOf(startChild(NODE, args, { cwd: ROOT, env, stdio: 'ignore' }));
  if (!existsSync(report)) throw new Error(`${spec} did not run to its end`);
  const { numFailedTests, numTotalTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(report, 'utf8'));
  if (numTotalTests === 0 || numRuntimeErrorTestSuites > 0) throw new Error(`${spec} did not run`);
  return numFailedTests > 0;
}

function config() {
  const preset = JSON.stringify(join(ROOT, 'jest.preset.js'));
  return `import preset from ${preset};\nexport default { ...preset };\n`;
}

function edit(path, from, to) {
  const parts = readFileSync(path, 'utf8').split(from);
  if (parts.length !== 2) throw new Error(`${path} holds ${parts.length - 1} times, not once:\n${from}`);
  writeFileSync(path, parts.join(to));
}
