/** Where things are, and how the tools run other programs. Needs nothing that is not in Node 20 itself. */
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endOf, startChild } from './signals.mjs';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The project's own Node, which `npm ci` brings; the system's may be older. */
export const NODE = join(ROOT, 'node_modules', '.bin', 'node');

/** Folders that hold nothing anybody wrote. */
const MADE_FOLDERS = new Set(['node_modules', 'dist', 'coverage', '.deadman', '.nx', '.git']);

/** @returns {string[]} the folders of the workspace's projects, relative to `root` */
export function projectFolders(root = ROOT) {
  return ['apps', 'libs', 'chaos']
    .filter((group) => existsSync(join(root, group)))
    .flatMap((group) => readdirSync(join(root, group)).map((name) => join(group, name)))
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .sort((one, other) => one.localeCompare(other));
}

/** @returns {string[]} all files under `folder` that somebody wrote, as paths that start with `folder` */
export function writtenFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return MADE_FOLDERS.has(entry.name) ? [] : writtenFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

/** @returns {string[]} the folders under `folder` that `writtenFiles` leaves out, as paths that start with `folder` */
export function madeFolders(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => (MADE_FOLDERS.has(name) ? [join(folder, name)] : madeFolders(join(folder, name))));
}

/** The environment for programs of the project: its own binaries first, and nx quiet and alone. */
export function projectEnv(more = {}) {
  const path = [join(ROOT, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  return { ...process.env, PATH: path, NX_DAEMON: 'false', NX_TUI: 'false', ...more };
}

/**
 * Runs a program in the workspace and resolves with its exit code, whatever that is. With `quiet`, its output is
 * kept back and shown only if it fails; with `hear`, it goes there, chunk by chunk, instead of to the terminal. A signal to
 * this process reaches it, and outside `untilTold` ends this process, too, once the program has ended.
 *
 * @returns {Promise<number>}
 */
export async function run(command, args, { quiet = false, hear = null, env = projectEnv() } = {}) {
  const stdio = quiet || hear ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'];
  const child = startChild(command, args, { cwd: ROOT, env, stdio });
  const said = [];
  const listen = hear ?? ((chunk) => said.push(chunk));
  child.stdout?.on('data', listen);
  child.stderr?.on('data', listen);
  const code = await endOf(child);
  if (code !== 0) process.stderr.write(Buffer.concat(said));
  return code;
}
