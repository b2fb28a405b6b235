import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { accountFor, canWalkTo, newFolderInSharedPlace, type ServerAccount } from '@deadman/embedded-postgres';
import { replaceFile } from './replace-file.js';
import { StackError } from './stack-error.js';
import type { Log } from './service.js';

/** Where one server keeps its things. `data` alone is written by the server, and is all that a wipe removes. */
export interface ServerFolder {
  path: string;
  data: string;
  log: string;
  /** Who the server runs as: somebody without rights when we are root, null for ourselves. */
  account: ServerAccount | null;
}

/** Names, in the wanted folder, the one really used. */
const LOCATION_FILE = 'location';

/** The folder in use for `wanted`, or the one that a first start would try; makes nothing. */
export function locateServerFolder(wanted: string): ServerFolder {
  const real = join(realpathSync(dirname(wanted)), basename(wanted));
  const location = join(real, LOCATION_FILE);
  return serverFolder(existsSync(location) ? readLocation(location) : real);
}

/**
 * The folder for `wanted`, made on first use. A clone under `/root` or in a `mktemp -d` folder is closed to the account
 * the server runs as: the folder is then one in a place all can reach, and `location` names it.
 */
export function openServerFolder(wanted: string, log: Log): ServerFolder {
  const folder = locateServerFolder(wanted);
  mkdirSync(folder.path, { recursive: true });
  const { path, account } = folder;
  if (!account || canWalkTo(path, account)) return folder;

  const elsewhere = newFolderInSharedPlace('stack', account);
  replaceFile(join(path, LOCATION_FILE), `${elsewhere}\n`);
  log(`User id ${account.uid}, whom the server runs as, cannot reach ${path}: its data is kept in ${elsewhere}.`);
  return serverFolder(elsewhere);
}

/** Makes an empty folder inside the data folder, or the data folder itself, that the server may write to. */
export function makeDataFolder({ data, account }: ServerFolder, ...inner: string[]): string {
  const path = join(data, ...inner);
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o700);
  if (account) chownSync(path, account.uid, account.gid);
  return path;
}

function serverFolder(path: string): ServerFolder {
  const data = join(path, 'data');
  return { path, data, log: join(path, 'server.log'), account: accountFor(data) };
}

function readLocation(file: string): string {
  const path = readFileSync(file, 'utf8').trim();
  if (existsSync(path)) return path;
  throw new StackError(
    `${file} says that the data is in ${path}, which does not exist. Bring it back, or remove ${file} to start afresh.`,
  );
}
