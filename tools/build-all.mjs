/** Builds all projects through nx, unless nothing changed since the last time. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT, projectFolders, run, writtenFiles } from './workspace.mjs';

const STAMP = join(ROOT, '.deadman', 'build.stamp');

/** Looking at the sources takes some ten milliseconds, and asking nx two seconds. Throws when the build fails. */
export async function ensureBuilt() {
  const stamp = stampOfSources();
  const built = projectFolders().every((project) => existsSync(join(ROOT, project, 'dist', '.tsbuildinfo')));
  if (built && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return;
  process.stderr.write('Building …\n');
  const code = await run('nx', ['run-many', '-t', 'build', '--outputStyle=static'], { quiet: true });
  if (code !== 0) throw new Error('The build failed.');
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, stamp);
}

function stampOfSources() {
  const hash = createHash('sha256');
  const rootFiles = ['nx.json', 'tsconfig.base.json', 'package-lock.json', 'tools/build.mjs'];
  const files = projectFolders().flatMap((project) => writtenFiles(join(ROOT, project)));
  for (const file of [...rootFiles.map((name) => join(ROOT, name)), ...files]) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${relative(ROOT, file)} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}
