import { chownSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterFolder } from './cluster-folder.js';

/** The longest path of a Unix socket that every system takes: `sun_path` has 104 bytes on macOS, one of them for its end. */
const MAX_PATH_BYTES = 103;
const HIGHEST_PORT = 65_535;

/** Whether the path of a socket in this folder is short enough. Where it is not, the server has TCP alone. */
export function canHoldSocket(folder: ClusterFolder): boolean {
  return Buffer.byteLength(socketFile(folder.sockets, HIGHEST_PORT)) <= MAX_PATH_BYTES;
}

/**
 * Makes an empty folder for the socket, which only the server's account can enter, and root. Emptied because a killed
 * server's lock stays there, and is honoured when its process number belongs to another process by now.
 *
 * Only for a folder whose server does not run. Answers false where it cannot be made.
 */
export function prepareSockets({ sockets, account }: ClusterFolder): boolean {
  try {
    rmSync(sockets, { recursive: true, force: true });
    mkdirSync(sockets, { mode: 0o700 });
    if (account) chownSync(sockets, account.uid, account.gid);
    return true;
  } catch {
    return false;
  }
}

/** Whether the socket of a server on `port` is there. A killed server leaves its own behind. */
export function hasSocket(sockets: string, port: number): boolean {
  return existsSync(socketFile(sockets, port));
}

/** The name is PostgreSQL's: `UNIXSOCK_PATH` in its `pqcomm.h`. */
function socketFile(sockets: string, port: number): string {
  return join(sockets, `.s.PGSQL.${port}`);
}
