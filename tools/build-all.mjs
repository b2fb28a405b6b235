/** Builds projects through nx, unless nothing changed since the last time. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT, projectFolders, run, writtenFiles } from './workspace.mjs';

/** Builds everything. Looking at the sources takes some ten milliseconds, and asking nx two seconds. Throws when it fails. */
export function ensureBuilt() {
  return ensureProjectsBuilt('build', projectFolders(), []);
}

/** Builds what `npm run stack` needs and no more, so that a fault elsewhere does not keep the servers away. */
export function ensureStackBuilt() {
  return ensureProjectsBuilt('build-stack', ['libs/embedded-postgres', 'libs/stack'], ['--projects=@deadman/stack']);
}

async function ensureProjectsBuilt(name, projects, options) {
  const stampFile = join(ROOT, '.deadman', `${name}.stamp`);
  const stamp = stampOfSources(projects);
  const built = projects.every((project) => existsSync(join(ROOT, project, 'dist', '.tsbuildinfo')));
  if (built && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  process.stderr.write('Building …\n');
  const code = await run('nx', ['run-many', '-t', 'build', '--outputStyle=static', ...options], { quiet: true });
  if (code !== 0) throw new Error('The build failed.');
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp);
}

function stampOfSources(projects) {
  const hash = createHash('sha256');
  const rootFiles = ['nx.json', 'tsconfig.base.json', 'package-lock.json', 'tools/build.mjs'];
  const files = projects.flatMap((project) => writtenFiles(join(ROOT, project)));
  for (const file of [...rootFiles.map((name) => join(ROOT, name)), ...files]) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${relative(ROOT, file)} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}
