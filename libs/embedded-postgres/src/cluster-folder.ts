import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { canWalkTo, newFolderInSharedPlace } from './reachable-place.js';
import { accountFor, type ServerAccount } from './server-account.js';

/**
 * The folder that holds all that belongs to one server.
 *
 * - `pgdata/`: PostgreSQL's own data folder, owned by the server's account
 * - `server.log`: what the server writes
 * - `sockets/`: its Unix socket, while it runs; closed to other users
 * - `port`, `password`: chosen once and kept, so that the URL survives restarts
 * - `start.lock`: held while somebody starts or stops the server
 * - `users/`: a mark of each who uses the server, the last of whom stops it
 */
export interface ClusterFolder {
  path: string;
  /** The folder that was asked for: `path` itself, or the one whose `location` names it. */
  wanted: string;
  pgdata: string;
  logFile: string;
  sockets: string;
  lockFile: string;
  /** Who the server runs as; null when it runs as us. */
  account: ServerAccount | null;
  /** Stands in the title of each of the server's processes, which is how they are found when it has died. */
  clusterName: string;
}

/** In the wanted folder: the path of the folder really used. Without it, that folder's data is not found again. */
const LOCATION_FILE = 'location';

/**
 * Opens the folder for `wanted`, creating it on first use.
 *
 * When the server's account cannot reach `wanted`, the folder is one in a place it can reach, and a file `location`
 * in `wanted` names it. Removing `wanted` therefore always means a fresh start, wherever the data was.
 */
export function openClusterFolder(wanted: string, log: (line: string) => void): ClusterFolder {
  mkdirSync(wanted, { recursive: true });
  const real = realpathSync(wanted);
  const location = join(real, LOCATION_FILE);
  if (existsSync(location)) return clusterFolder(readLocation(location), real);

  const { account } = clusterFolder(real);
  if (!account || canWalkTo(real, account)) return clusterFolder(real);

  const elsewhere = newFolderInSharedPlace(shortHash(real), account);
  replaceFile(location, `${elsewhere}\n`, 0o644);
  log(`User id ${account.uid}, whom PostgreSQL runs as, cannot reach ${real}: the data is kept in ${elsewhere}.`);
  return clusterFolder(elsewhere, real);
}

function clusterFolder(path: string, wanted = path): ClusterFolder {
  const pgdata = join(path, 'pgdata');
  return {
    path,
    wanted,
    pgdata,
    logFile: join(path, 'server.log'),
    sockets: join(path, 'sockets'),
    lockFile: join(path, 'start.lock'),
    account: accountFor(pgdata),
    clusterName: `deadman-${shortHash(pgdata)}`,
  };
}

/** Removes the data and all that belongs to it. No server may run on it. */
export function removeClusterFolder(folder: ClusterFolder): void {
  rmSync(folder.path, { recursive: true, force: true });
  rmSync(folder.wanted, { recursive: true, force: true });
}

function readLocation(file: string): string {
  const path = readFileSync(file, 'utf8').trim();
  if (existsSync(path)) return path;
  throw new EmbeddedPostgresError(
    `${file} says that the data is in ${path}, which does not exist. Bring it back, or remove ${file} to start afresh.`,
  );
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** The port used last, or null before the first start. */
export function rememberedPort(folder: ClusterFolder): number | null {
  const file = join(folder.path, 'port');
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : null;
}

export function rememberPort(folder: ClusterFolder, port: number): void {
  replaceFile(join(folder.path, 'port'), `${port}\n`, 0o644);
}

/** The superuser's password; without one, every user of the machine would be superuser of the database. */
export function readPassword(folder: ClusterFolder): string {
  return readFileSync(join(folder.path, 'password'), 'utf8').trim();
}

export function writePassword(folder: ClusterFolder, password: string): void {
  replaceFile(join(folder.path, 'password'), `${password}\n`, 0o600);
}

function replaceFile(file: string, content: string, mode: number): void {
  const next = join(dirname(file), `.${basename(file)}.${process.pid}`);
  writeFileSync(next, content, { mode });
  chmodSync(next, mode);
  renameSync(next, file);
}
