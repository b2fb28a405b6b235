import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DeadmanError } from '@deadman/domain';
import { packageEntry } from './package-entry.js';

/** The files to import, in order. */
export interface HandlerFiles {
  readonly files: readonly string[];
  /** A folder of loose files may hold helpers that export no handler; a package's entry may not be without one. */
  readonly areLoose: boolean;
}

/**
 * What `DEADMAN_HANDLERS` names: a file; a folder, which is a package if its package.json names an entry, else every
 * `.js` and `.mjs` file in it by name; or a package installed in `cwd` or above it. A path wins over a package.
 *
 * @throws DeadmanError `handler-invalid` when there is no such thing, or nothing in it.
 */
export function findHandlerFiles(named: string, cwd: string): HandlerFiles {
  const path = resolve(cwd, named);
  const found = existsSync(path) ? path : findInstalled(named, cwd);
  if (found === null) {
    throw new DeadmanError(
      'handler-invalid',
      `There is no file, folder or installed package '${named}' (seen from ${cwd})`,
    );
  }
  return statSync(found).isDirectory() ? filesOfFolder(found) : { files: [found], areLoose: false };
}

function filesOfFolder(folder: string): HandlerFiles {
  const manifest = join(folder, 'package.json');
  const entry = existsSync(manifest) ? packageEntry(readManifest(manifest)) : null;
  if (entry !== null) return { files: [existingEntry(folder, entry)], areLoose: false };
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((item) => !item.isDirectory() && /\.m?js$/.test(item.name))
    .map((item) => item.name)
    // By code unit: the order must not depend on the machine's locale.
    .sort();
  if (names.length === 0) throw new DeadmanError('handler-invalid', `The folder ${folder} has no .js or .mjs file`);
  return { files: names.map((name) => join(folder, name)), areLoose: true };
}

function existingEntry(folder: string, entry: string): string {
  const file = resolve(folder, entry);
  if (existsSync(file) && statSync(file).isFile()) return file;
  throw new DeadmanError(
    'handler-invalid',
    `${join(folder, 'package.json')} names ${entry}, which is no file. Was it built?`,
  );
}

function readManifest(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new DeadmanError('handler-invalid', `${path} is not JSON`, { cause });
  }
}

/** Looks where Node would: in `node_modules` of `cwd` and of each folder above it. */
function findInstalled(name: string, cwd: string): string | null {
  const folder = join(cwd, 'node_modules', name);
  if (existsSync(folder)) return folder;
  const above = dirname(cwd);
  return above === cwd ? null : findInstalled(name, above);
}
