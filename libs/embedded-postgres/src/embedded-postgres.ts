import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { resolve } from 'node:path';
import { locateBinaries } from './binaries.js';
import { openClusterFolder, removeClusterFolder } from './cluster-folder.js';
import { ensureDatabase, socketUrlOf, urlOf } from './connection.js';
import { ensureDataFolder } from './data-folder.js';
import { socketsOf, type RunningServer } from './postmaster-file.js';
import { isAlive } from './process-table.js';
import type { ServerSettings } from './server-arguments.js';
import { bringDown, bringUp, type ServerPlan } from './server-process.js';
import { hasSocket } from './server-socket.js';
import { ServerUser } from './server-users.js';
import { withStartLock } from './start-lock.js';

export interface EmbeddedPostgresOptions {
  /** Where the data is kept. Created when missing; `location` in it names another folder if this one cannot serve. */
  dataDir: string;
  /** TCP port on 127.0.0.1. Default: the one used last, or a free one, which is then remembered. */
  port?: number;
  /** Hears what a person at the terminal wants to know, a sentence at a time. Default: nobody. */
  log?: (line: string) => void;
  /** Whether committed work outlives a crash of the machine. Default true; false is for tests, and faster. */
  durable?: boolean;
  /** Whether to start the server again, on the same port, when it ends without `stop`. Default false. */
  restart?: boolean;
  /** How long it may take until the server answers, recovery included. Milliseconds, default 120 000: a guess. */
  readyWithinMs?: number;
  /** PostgreSQL settings on top of the lib's own. */
  settings?: ServerSettings;
}

/** Pause before the server is started again: doubles from the first to the last. Milliseconds. */
const FIRST_RESTART_MS = 100;
const LAST_RESTART_MS = 5_000;

/** How soon a server that ended is missed. Milliseconds. */
const WATCH_EVERY_MS = 200;

/**
 * Starts the PostgreSQL of `dataDir`, or joins the one that runs there already, and resolves once it answers queries.
 *
 * The server is a process of its own and outlives us when we are killed; the next call then joins it. All who joined
 * share it, and the last to stop ends it. Throws `EmbeddedPostgresError`, and the server may then still be coming up, so
 * that calling again is safe and joins it.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const log = options.log ?? ((): void => undefined);
  const durable = options.durable ?? true;
  const folder = openClusterFolder(resolve(options.dataDir), log);
  const binaries = await locateBinaries(folder.account, log);
  const readyWithinMs = options.readyWithinMs ?? 120_000;
  const plan = { folder, binaries, durable, settings: options.settings ?? {}, readyWithinMs, log };
  return withStartLock(folder.lockFile, 2 * readyWithinMs, async () => {
    ensureDataFolder(folder, binaries, durable);
    const user = new ServerUser(folder);
    try {
      const server = await bringUp({ ...plan, port: options.port ?? null });
      await ensureDatabase(folder, server.port);
      // Whoever uses the URL cannot be told of another port, so a restart insists on this one.
      return new EmbeddedPostgres({ ...plan, port: server.port }, user, server, options.restart ?? false);
    } catch (error) {
      user.leave();
      throw error;
    }
  });
}

/**
 * A running server. With `restart` it is watched, and each time it ends on its own it is started again, after pauses
 * that grow, for as long as we live; clients see broken connections meanwhile, and committed work is kept.
 */
export class EmbeddedPostgres {
  private readonly stopping = new AbortController();
  private watching: Promise<void> = Promise.resolve();

  constructor(
    private readonly plan: ServerPlan,
    private readonly user: ServerUser,
    private server: RunningServer,
    restart: boolean,
  ) {
    if (restart) this.watching = this.watch();
  }

  /** Carries the superuser's password: hand it to a driver, and keep it out of logs. */
  get url(): string {
    return urlOf(this.plan.folder, this.server.port);
  }

  /**
   * For processes of this machine: by the server's Unix socket where it has one, and otherwise `url`. Carries the password
   * as well. What the server says of itself decides: beside the one that answers, a killed server's socket may lie.
   */
  get localUrl(): string {
    const { folder } = this.plan;
    const { port } = this.server;
    const sockets = socketsOf(folder);
    return sockets !== null && hasSocket(sockets, port) ? socketUrlOf(folder, port, sockets) : this.url;
  }

  get port(): number {
    return this.server.port;
  }

  /** Of the server's first process. Another one after each restart. */
  get pid(): number {
    return this.server.pid;
  }

  /** The folder really used. */
  get dataDir(): string {
    return this.plan.folder.path;
  }

  /**
   * Ends the watch over the server, and the server itself unless others use it, whoever started it. Safe to repeat, also
   * after `destroy`. Throws when the server's process does not end within 40 s; it has been told to, so it may end later.
   */
  async stop(): Promise<void> {
    await this.leave();
    if (!this.isLeftToOthers()) await this.end(() => this.isLeftToOthers());
  }

  /** Ends the server, whoever uses it, and removes its data for good. For tests. Throws as `stop` does. */
  async destroy(): Promise<void> {
    await this.leave();
    await this.end(() => false);
    removeClusterFolder(this.plan.folder);
  }

  private async leave(): Promise<void> {
    this.stopping.abort();
    await this.watching;
    this.user.leave();
  }

  /** Asks `unless` once nobody can join any more. */
  private async end(unless: () => boolean): Promise<void> {
    const { folder, readyWithinMs } = this.plan;
    if (!existsSync(folder.path)) return;
    await withStartLock(folder.lockFile, readyWithinMs, async () => {
      if (!unless()) await bringDown(folder);
    });
  }

  private isLeftToOthers(): boolean {
    const others = this.user.hasCompany();
    if (others) this.plan.log(`PostgreSQL (process ${this.server.pid}) goes on: others use it.`);
    return others;
  }

  private async watch(): Promise<void> {
    while (await this.pause(WATCH_EVERY_MS)) {
      if (isAlive(this.server.pid)) continue;
      this.plan.log(`PostgreSQL (process ${this.server.pid}) has ended: starting it again.`);
      await this.startAgain();
    }
  }

  private async startAgain(): Promise<void> {
    let wait = FIRST_RESTART_MS;
    while (await this.pause(wait)) {
      try {
        this.server = await withStartLock(this.plan.folder.lockFile, this.plan.readyWithinMs, () => bringUp(this.plan));
        return this.plan.log(`PostgreSQL answers again (process ${this.server.pid}).`);
      } catch (error) {
        wait = Math.min(2 * wait, LAST_RESTART_MS);
        this.plan.log(`PostgreSQL did not start; next try in ${wait} ms. ${(error as Error).message}`);
      }
    }
  }

  /** Answers false as soon as `stop` was called. The pause alone does not keep our process alive. */
  private async pause(ms: number): Promise<boolean> {
    if (this.stopping.signal.aborted) return false;
    try {
      await sleep(ms, undefined, { ref: false, signal: this.stopping.signal });
      return true;
    } catch {
      return false;
    }
  }
}
