import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterFolder } from './cluster-folder.js';
import { commandOf, isAlive, listProcesses } from './process-table.js';
import { waitUntil } from './wait-until.js';

/** A running server of this folder, as its own `postmaster.pid` tells. */
export interface RunningServer {
  pid: number;
  port: number;
}

/** Line numbers in `postmaster.pid`, counted from 0: PostgreSQL's `pidfile.h`. */
const PID_LINE = 0;
const PORT_LINE = 3;
const SOCKETS_LINE = 4;

/**
 * Finds the server that runs on this folder, whoever started it. The process number alone proves nothing, since it
 * may have been given to another program after a crash, so the command has to name the folder too.
 */
export function findRunningServer(folder: ClusterFolder): RunningServer | null {
  const lines = readLines(folder);
  const pid = Number(lines[PID_LINE]);
  const port = Number(lines[PORT_LINE]);
  return pid > 0 && port > 0 && runsOn(pid, folder) ? { pid, port } : null;
}

/** Where the server that runs on this folder says that it has its Unix socket, or null when it has none. */
export function socketsOf(folder: ClusterFolder): string | null {
  return readLines(folder)[SOCKETS_LINE] || null;
}

function runsOn(pid: number, folder: ClusterFolder): boolean {
  return isAlive(pid) && commandOf(pid).includes(`-D ${folder.pgdata} `);
}

/**
 * Clears away what a killed server left: the backends that were busy and did not notice, which keep its shared memory
 * in use, and its `postmaster.pid`, which PostgreSQL honours when the number belongs to another process by now.
 *
 * Only for a folder whose server does not run. Answers whether all of it went within `limitMs`.
 */
export async function clearRemains(folder: ClusterFolder, limitMs: number): Promise<boolean> {
  const orphans = listProcesses().filter(({ command }) => command.startsWith(`postgres: ${folder.clusterName}: `));
  for (const { pid } of orphans) killOutright(pid);
  const gone = await waitUntil(() => orphans.every(({ pid }) => !isAlive(pid)), limitMs);
  if (gone) rmSync(join(folder.pgdata, 'postmaster.pid'), { force: true });
  return gone;
}

function killOutright(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function readLines(folder: ClusterFolder): string[] {
  const file = join(folder.pgdata, 'postmaster.pid');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
}
