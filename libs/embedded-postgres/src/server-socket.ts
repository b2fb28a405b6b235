import { chownSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterFolder } from './cluster-folder.js';

/** The longest path of a Unix socket: `sun_path` has 104 bytes on macOS and 108 on Linux, one of them for its end. */
const MAX_PATH_BYTES = 103;
const HIGHEST_PORT = 65_535;

/** Whether the path of a socket in this folder is short enough for the system. Where it is not, the server has TCP alone. */
export function canHoldSocket(folder: ClusterFolder): boolean {
  return Buffer.byteLength(socketFile(folder, HIGHEST_PORT)) <= MAX_PATH_BYTES;
}

/**
 * Makes an empty folder for the socket, which only the server's account can enter, and root. Emptied because a killed
 * server's lock stays there, and is honoured when its process number belongs to another process by now.
 *
 * Only for a folder whose server does not run.
 */
export function prepareSockets({ sockets, account }: ClusterFolder): void {
  rmSync(sockets, { recursive: true, force: true });
  mkdirSync(sockets, { mode: 0o700 });
  if (account) chownSync(sockets, account.uid, account.gid);
}

/** Whether the server that listens on `port` has a socket here; one that an older release started has none. */
export function hasSocket(folder: ClusterFolder, port: number): boolean {
  return existsSync(socketFile(folder, port));
}

/** The name is PostgreSQL's: `UNIXSOCK_PATH` in its `pqcomm.h`. */
function socketFile({ sockets }: ClusterFolder, port: number): string {
  return join(sockets, `.s.PGSQL.${port}`);
}
