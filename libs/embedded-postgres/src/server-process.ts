import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Binaries } from './binaries.js';
import { rememberPort, rememberedPort, type ClusterFolder } from './cluster-folder.js';
import { whyNotReady } from './connection.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { findFreePort } from './free-port.js';
import { clearRemains, findRunningServer, type RunningServer } from './postmaster-file.js';
import { isAlive } from './process-table.js';
import { serverArguments, type ServerSettings, type Way } from './server-arguments.js';
import { ServerLog } from './server-log.js';
import { canHoldSocket, prepareSockets } from './server-socket.js';
import { startFaultIn } from './start-fault.js';
import { waitUntil } from './wait-until.js';

export interface ServerPlan {
  folder: ClusterFolder;
  binaries: Binaries;
  durable: boolean;
  settings: ServerSettings;
  /** The port to insist on. Null takes the one used last, or a free one when that is taken. */
  port: number | null;
  /** How long the server may take until it answers, recovery after a crash included. Milliseconds. */
  readyWithinMs: number;
  log: (line: string) => void;
}

/** How long a server may take to end after it was told to, for each of the two ways. Milliseconds. */
const FAST_STOP_MS = 30_000;
const IMMEDIATE_STOP_MS = 10_000;

/** Pause before another try, when the way may be free by then. Milliseconds. */
const TRY_AGAIN_MS = 100;

/**
 * Brings the folder's server to the point where it answers queries: joins one that runs already, or starts one.
 *
 * Throws within `readyWithinMs` and a little, with the end of the server's log. The caller holds the start lock.
 */
export async function bringUp(plan: ServerPlan): Promise<RunningServer> {
  const deadline = performance.now() + plan.readyWithinMs;
  const log = new ServerLog(plan.folder.logFile);
  const port = plan.port ?? rememberedPort(plan.folder) ?? (await findFreePort());
  let way: Way = { port, bySocket: canHoldSocket(plan.folder) };
  for (;;) {
    const running = findRunningServer(plan.folder);
    if (running) plan.log(`Joining the PostgreSQL that runs on ${plan.folder.path} as process ${running.pid}.`);
    const server = running ?? (await launch(plan, way, log, deadline));
    if (await becomesReady(plan, server, log, deadline)) {
      rememberPort(plan.folder, server.port);
      return server;
    }
    if (!running) way = await wayForAnotherTry(plan, way, log);
    await sleep(TRY_AGAIN_MS);
  }
}

/** Ends the folder's server, if there is one: sessions are cut off, committed work is kept. */
export async function bringDown(folder: ClusterFolder): Promise<void> {
  const running = findRunningServer(folder);
  if (!running) return;
  const gone = (): boolean => !isAlive(running.pid);
  process.kill(running.pid, 'SIGINT');
  if (await waitUntil(gone, FAST_STOP_MS)) return;
  if (!gone()) process.kill(running.pid, 'SIGQUIT');
  if (await waitUntil(gone, IMMEDIATE_STOP_MS)) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL (process ${running.pid}) does not end. Its log says:\n${new ServerLog(folder.logFile).tail()}`,
  );
}

async function launch(plan: ServerPlan, way: Way, log: ServerLog, deadline: number): Promise<RunningServer> {
  const { folder, binaries, durable, settings } = plan;
  if (!(await clearRemains(folder, deadline - performance.now()))) {
    throw new EmbeddedPostgresError(`Processes of an earlier server on ${folder.path} do not end, although killed.`);
  }
  const taken: Way = { ...way, bySocket: way.bySocket && prepareSockets(folder) };
  // Detached, so that Ctrl-C in the terminal reaches us alone and we can finish our work before the server goes.
  const child = log.lend((descriptor) =>
    spawn(binaries.postgres, serverArguments(folder, taken, durable, settings), {
      ...folder.account,
      cwd: folder.pgdata,
      detached: true,
      env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
      stdio: ['ignore', descriptor, descriptor],
    }),
  );
  const failed = new Promise<Error>((resolve) => child.once('error', resolve));
  child.unref();
  if (child.pid !== undefined) return { pid: child.pid, port: way.port };
  throw new EmbeddedPostgresError(`${binaries.postgres} cannot be started: ${(await failed).message}`);
}

/** Answers false when the process ended before it was ready. */
async function becomesReady(
  plan: ServerPlan,
  server: RunningServer,
  log: ServerLog,
  deadline: number,
): Promise<boolean> {
  for (;;) {
    const reason = await whyNotReady(plan.folder, server.port);
    if (reason === null) return true;
    if (!isAlive(server.pid)) return false;
    if (performance.now() > deadline) {
      throw new EmbeddedPostgresError(
        `PostgreSQL on ${plan.folder.path} (process ${server.pid}, port ${server.port}) does not answer after ` +
          `${plan.readyWithinMs / 1000} s: ${reason}. Its log says:\n${log.tail()}`,
      );
    }
    await sleep(TRY_AGAIN_MS / 2);
  }
}

/** Reads from the log why the server ended at once, and throws unless another try can go better. */
async function wayForAnotherTry(plan: ServerPlan, way: Way, log: ServerLog): Promise<Way> {
  const said = log.tail();
  const fault = startFaultIn(said);
  if (fault === 'earlier-server') return way;
  if (fault === 'no-socket' && way.bySocket) {
    plan.log(`${plan.folder.sockets} can hold no Unix socket: PostgreSQL is reached by TCP alone.`);
    return { ...way, bySocket: false };
  }
  if (fault === 'port-taken' && plan.port === null) {
    const port = await findFreePort();
    plan.log(`Port ${way.port} is taken: PostgreSQL moves to port ${port}.`);
    return { ...way, port };
  }
  throw new EmbeddedPostgresError(`PostgreSQL on ${plan.folder.path} ended while starting. Its log says:\n${said}`);
}
