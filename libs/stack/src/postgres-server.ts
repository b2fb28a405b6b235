import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  clearRemains,
  findRunningServer,
  openClusterFolder,
  removeClusterFolder,
  startEmbeddedPostgres,
  startOf,
  urlOf,
  whyNotReady,
  type ClusterFolder,
} from '@deadman/embedded-postgres';
import { ServerPorts } from './server-ports.js';
import { endProcess } from './server-processes.js';
import type { Log, OwnServer, ServerFacts, ServerProcess } from './service.js';
import { StackError } from './stack-error.js';

/** PostgreSQL's "fast" shutdown: its "smart" one, SIGTERM, would wait until every client has gone. */
const STOP_SIGNAL = 'SIGINT';

/** How long the sessions of a killed server may take to end once they are killed too. Milliseconds. */
const REMAINS_LIMIT_MS = 10_000;

/** Room for the pools of some ten processes, and for those who look on. */
const SETTINGS = { max_connections: '300' };

/** The PostgreSQL from npm, durable as in production: `fsync` and `synchronous_commit` are on. */
export class PostgresServer implements OwnServer {
  readonly name = 'postgres';
  private readonly ports: ServerPorts;

  constructor(
    private readonly home: string,
    private readonly log: Log,
  ) {
    this.ports = new ServerPorts(`${home}.ports`, 1);
  }

  /** Its programs come with the npm packages. */
  missingPackages(): string[] {
    return [];
  }

  find(): ServerProcess | null {
    const folder = this.folder();
    const running = folder && findRunningServer(folder);
    const startedAt = running && startOf(running.pid);
    return startedAt ? { pid: running.pid, startedAt } : null;
  }

  async whyNotReady(): Promise<string | null> {
    const folder = this.folder();
    const port = this.ports.remembered()?.[0];
    return folder && port !== undefined ? whyNotReady(folder, port) : 'it was never started';
  }

  async start(): Promise<void> {
    const port = this.find() ? undefined : await this.choosePort();
    try {
      await startEmbeddedPostgres({ dataDir: this.home, settings: SETTINGS, log: this.log, ...(port && { port }) });
    } catch (cause) {
      throw new StackError((cause as Error).message, { cause });
    }
  }

  async stop(signal: NodeJS.Signals = STOP_SIGNAL): Promise<void> {
    const server = this.find();
    if (server) await endProcess(server, signal);
    await this.clearRemains();
  }

  /** The password goes with the data, so the URL of the next start is another one, on the same port. */
  async wipe(): Promise<void> {
    const folder = this.folder();
    if (folder) removeClusterFolder(folder);
  }

  facts(): ServerFacts {
    const folder = this.folder();
    const port = this.ports.remembered()?.[0] ?? null;
    if (!folder) return { url: null, port, dataDir: this.home, log: join(this.home, 'server.log') };
    const url = port !== null && existsSync(folder.pgdata) ? urlOf(folder, port) : null;
    return { url, port, dataDir: folder.path, log: folder.logFile };
  }

  private async choosePort(): Promise<number> {
    await this.clearRemains();
    const { ports, moved } = await this.ports.choose();
    if (moved) this.log(`postgres: somebody took its port, so it moves to ${ports[0]}.`);
    return ports[0]!;
  }

  /** Killing the first process leaves its sessions alive for a while, and busy ones for good; they hold its port. */
  private async clearRemains(): Promise<void> {
    const folder = this.folder();
    if (!folder || (await clearRemains(folder, REMAINS_LIMIT_MS))) return;
    throw new StackError('The sessions of the PostgreSQL that was killed do not end, although killed.');
  }

  /** Null until the first start makes it, and again once a wipe has removed it. */
  private folder(): ClusterFolder | null {
    return existsSync(this.home) ? openClusterFolder(this.home, this.log) : null;
  }
}
