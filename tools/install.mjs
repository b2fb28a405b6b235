/** Brings `node_modules` to what the lock file says, and does nothing when it is there already. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE, ROOT, run } from './workspace.mjs';

/** Installs if needed. Throws when that fails. */
export async function ensureInstalled() {
  if (existsSync(NODE) && isInstalled(ROOT)) return;
  process.stderr.write('Installing packages (npm ci), about a minute the first time …\n');
  // The includes hold against a production setting in the caller's shell, which would leave out compiler and Node.
  const includes = ['--include=dev', '--include=optional'];
  const code = await run('npm', ['ci', ...includes, '--no-audit', '--no-fund', '--loglevel=error'], { quiet: true });
  if (code !== 0) throw new Error(`npm ci failed with exit code ${code}.`);
}

/**
 * npm writes what it installed to `node_modules/.package-lock.json` when it is done, so comparing that with the lock
 * also sees an install that was interrupted, and one that somebody ran by hand.
 */
export function isInstalled(root) {
  const installedFile = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages;
  return Object.entries(wanted)
    .filter(([path]) => path.startsWith('node_modules/'))
    .every(([path, entry]) => isAsWanted(entry, installed[path]));
}

/** Packages for other platforms are optional and not installed. */
function isAsWanted(wanted, installed) {
  if (!installed) return wanted.optional === true || wanted.devOptional === true;
  return installed.version === wanted.version && installed.integrity === wanted.integrity;
}
