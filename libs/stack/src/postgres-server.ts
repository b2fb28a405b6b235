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
import { existsSync } from 'node:fs';
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
    const running = findRunningServer(this.folder());
    const startedAt = running && startOf(running.pid);
    return running && startedAt ? { pid: running.pid, startedAt } : null;
  }

  async whyNotReady(): Promise<string | null> {
    const { port } = this.facts();
    return port === null ? 'it was never started' : whyNotReady(this.folder(), port);
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
    if (!server) return;
    await endProcess(server, signal);
    // Killing the first process leaves busy sessions alive, and a killed server has none.
    if (await clearRemains(this.folder(), REMAINS_LIMIT_MS)) return;
    throw new StackError('The sessions of the PostgreSQL that was killed do not end, although killed.');
  }

  /** The password goes with the data, so the URL of the next start is another one, on the same port. */
  async wipe(): Promise<void> {
    removeClusterFolder(this.folder());
  }

  facts(): ServerFacts {
    const folder = this.folder();
    const port = this.ports.remembered()?.[0] ?? null;
    const url = port !== null && existsSync(folder.pgdata) ? urlOf(folder, port) : null;
    return { url, port, dataDir: folder.path, log: folder.logFile };
  }

  private async choosePort(): Promise<number> {
    const { ports, moved } = await this.ports.choose();
    if (moved) this.log(`postgres: somebody took its port, so it moves to ${ports[0]}.`);
    return ports[0]!;
  }

  /** Opened anew each time, since a wipe removes it and a start makes it. */
  private folder(): ClusterFolder {
    return openClusterFolder(this.home, this.log);
  }
}
