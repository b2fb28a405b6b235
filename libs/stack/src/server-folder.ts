import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
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

/**
 * Opens the folder for `wanted`, creating it on first use. A clone under `/root` or in a `mktemp -d` folder is closed
 * to the account the server runs as: the folder is then one in a place all can reach, and `location` names it.
 */
export function openServerFolder(wanted: string, log: Log): ServerFolder {
  mkdirSync(wanted, { recursive: true });
  const real = realpathSync(wanted);
  const location = join(real, LOCATION_FILE);
  if (existsSync(location)) return serverFolder(readLocation(location));

  const { account } = serverFolder(real);
  if (!account || canWalkTo(real, account)) return serverFolder(real);

  const elsewhere = newFolderInSharedPlace('stack', account);
  replaceFile(location, `${elsewhere}\n`, 0o644);
  log(`User id ${account.uid}, whom the server runs as, cannot reach ${real}: its data is kept in ${elsewhere}.`);
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
