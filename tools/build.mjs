/**
 * Builds one project: compiles it, and makes `dist` hold exactly what `src` stands for. nx calls this per project, in
 * the order of their dependencies: `node tools/build.mjs libs/store`.
 *
 * The compiler alone would leave out the SQL and Lua files, and keep the output of sources that were removed: a
 * migration that was never released would then still run.
 */
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, run, writtenFiles } from './workspace.mjs';

const COPIED = new Set(['.sql', '.lua']);

export async function build(project) {
  const src = join(ROOT, project, 'src');
  const dist = join(ROOT, project, 'dist');
  removeStale(src, dist);
  const code = await run('tsc', ['-p', join(project, 'tsconfig.json')]);
  copyAssets(src, dist);
  return code;
}

export function copyAssets(src, dist) {
  for (const file of writtenFiles(src).filter((path) => COPIED.has(extname(path)))) {
    const target = join(dist, relative(src, file));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(file, target);
  }
}

export function removeStale(src, dist) {
  for (const file of writtenFiles(dist)) {
    const source = sourceOf(join(src, relative(dist, file)));
    if (source !== null && !existsSync(source)) rmSync(file);
  }
}

/** The source that a file in `dist` stems from, or null for the compiler's own notes. */
function sourceOf(file) {
  if (COPIED.has(extname(file))) return file;
  const compiled = /^(.*?)(\.d\.ts|\.js)(\.map)?$/.exec(file);
  return compiled ? `${compiled[1]}.ts` : null;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await build(process.argv[2]);
