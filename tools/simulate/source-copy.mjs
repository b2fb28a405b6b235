/**
 * Copies of the code that the simulation runs: sources with their types taken off, in a folder of their own. Nothing has
 * to be built, a run that takes an hour is not disturbed by an edit, and a mutant is a copy with one edit more.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join, relative } from 'node:path';
import { isAlive } from '../test-server.mjs';
import { ROOT, writtenFiles } from '../workspace.mjs';

/** The simulation and all that it imports, by folder. */
const PROJECTS = ['libs/config', 'libs/domain', 'libs/engine', 'libs/leases', 'libs/store', 'chaos/simulation'];

const NOT_RUN = /\.(spec|int-spec|contract|d)\.ts$/;
const COPIES = join(ROOT, '.deadman', 'simulation');

/** Where a source file of a project goes in a copy; the names are those of the packages, so that imports find them. */
function placeOf(copy, path) {
  const [, name, ...rest] = path.split('/');
  return join(copy, 'node_modules', '@deadman', name, ...rest);
}

/** Makes the copy called `name`, which ends in our pid, and returns its folder. Those that killed runs left go first. */
export function copySources(name) {
  for (const left of abandoned()) removeCopy(left);
  const copy = join(COPIES, name);
  rmSync(copy, { recursive: true, force: true });
  for (const project of PROJECTS) copyProject(copy, project);
  return copy;
}

/** A copy of a copy, in which each edit replaces the one place of its file that holds `from`. */
export function copyWithEdits(base, name, edits) {
  const copy = join(COPIES, name);
  rmSync(copy, { recursive: true, force: true });
  cpSync(base, copy, { recursive: true });
  const texts = new Map();
  for (const { file, from, to } of edits) {
    texts.set(file, replaceOnce(texts.get(file) ?? readFileSync(join(ROOT, file), 'utf8'), from, to, file));
  }
  for (const [file, text] of texts) writeFileSync(compiledPlace(copy, file), strip(text));
  return copy;
}

/** The entry of a copy that runs schedules. */
export function mainOf(copy) {
  return join(copy, 'node_modules', '@deadman', 'simulation', 'src', 'main.js');
}

/** Tells the code of a copy from any other. */
export function codeOf(copy) {
  const hash = createHash('sha256');
  for (const file of writtenFiles(join(copy, 'node_modules', '@deadman')).toSorted()) {
    hash.update(relative(copy, file)).update('\0').update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 12);
}

export function removeCopy(copy) {
  rmSync(copy, { recursive: true, force: true });
}

function abandoned() {
  const copies = existsSync(COPIES) ? readdirSync(COPIES) : [];
  const pidOf = (name) => /^[a-z]+-(\d+)/.exec(name)?.[1];
  return copies
    .filter((name) => pidOf(name) !== undefined && !isAlive(Number(pidOf(name))))
    .map((name) => join(COPIES, name));
}

function copyProject(copy, project) {
  for (const path of writtenFiles(join(ROOT, project, 'src'))) {
    const file = relative(ROOT, path);
    if (extname(file) === '.ts' && !NOT_RUN.test(file))
      write(compiledPlace(copy, file), strip(readFileSync(path, 'utf8')));
    if (extname(file) === '.sql' || extname(file) === '.lua') write(placeOf(copy, file), readFileSync(path));
  }
  write(placeOf(copy, join(project, 'package.json')), JSON.stringify({ type: 'module', exports: './src/index.js' }));
}

function compiledPlace(copy, file) {
  return placeOf(copy, file.replace(/\.ts$/, '.js'));
}

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Leaves every line where it was, so that a stack trace names the line of the source. */
function strip(text) {
  return stripTypeScriptTypes(text);
}

function replaceOnce(text, from, to, file) {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times, not once:\n${from}`);
  return parts.join(to);
}
