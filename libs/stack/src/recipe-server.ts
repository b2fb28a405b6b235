import { spawn } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerLog, startOf } from '@deadman/embedded-postgres';
import { locateServerFolder, openServerFolder, type ServerFolder } from './server-folder.js';
import { ServerPorts } from './server-ports.js';
import { endProcess, findProcess, runs } from './server-processes.js';
import type { Launch, ServerRecipe } from './server-recipe.js';
import type { Log, OwnServer, ServerFacts, ServerProcess } from './service.js';
import { StackError } from './stack-error.js';

/** How long a server may take until it answers. Milliseconds: a guess, some twenty times what a broker usually needs. */
const READY_WITHIN_MS = 60_000;

/** Pause between two looks whether it answers. Milliseconds. */
const ASK_EVERY_MS = 50;

/** How often a start goes on to other ports when somebody took one between the choice and the start. */
const STARTS = 3;

/** A server that is a program with a configuration, started as a process that outlives us. */
export class RecipeServer implements OwnServer {
  readonly name;
  private folder: ServerFolder;
  private readonly ports: ServerPorts;

  /** `home` is the server's own folder; its ports are remembered beside it. */
  constructor(
    private readonly recipe: ServerRecipe,
    private readonly home: string,
    private readonly log: Log,
  ) {
    this.name = recipe.name;
    this.folder = locateServerFolder(home);
    this.ports = new ServerPorts(`${home}.ports`, recipe.portCount);
  }

  missingPackages(): string[] {
    return this.recipe.missingPackages(this.folder);
  }

  find(): ServerProcess | null {
    return findProcess((command) => this.recipe.isServer(command, this.folder));
  }

  async whyNotReady(): Promise<string | null> {
    const port = this.ports.remembered()?.[0];
    return port === undefined ? 'it was never started' : this.recipe.whyNotReady(port);
  }

  async start(): Promise<void> {
    this.folder = openServerFolder(this.home, this.log);
    const serverLog = new ServerLog(this.folder.log);
    const deadline = performance.now() + READY_WITHIN_MS;
    for (let start = 1; ; start += 1) {
      const server = this.find() ?? (await this.launch(serverLog));
      if (await this.becomesReady(server, serverLog, deadline)) return;
      if (start === STARTS || !(await this.lostItsPorts())) {
        throw new StackError(
          `${this.name} ended while starting. Its log, ${this.folder.log}, says:\n${serverLog.tail()}`,
        );
      }
    }
  }

  async stop(signal: NodeJS.Signals = this.recipe.stopSignal): Promise<void> {
    const server = this.find();
    if (server) await endProcess(server, signal);
  }

  /** Moved away first, so that data half removed is never taken for data. */
  async wipe(): Promise<void> {
    const condemned = `${this.folder.data}.wiped`;
    rmSync(condemned, { recursive: true, force: true });
    if (!existsSync(this.folder.data)) return;
    renameSync(this.folder.data, condemned);
    rmSync(condemned, { recursive: true, force: true });
  }

  facts(): ServerFacts {
    const port = this.ports.remembered()?.[0] ?? null;
    const url = port === null ? null : this.recipe.url(port);
    return { url, port, dataDir: this.folder.path, log: this.folder.log };
  }

  private async launch(serverLog: ServerLog): Promise<ServerProcess> {
    const { ports, moved } = await this.ports.choose();
    if (moved) this.log(`${this.name}: somebody took its port, so it moves to ${ports[0]}.`);
    const launch = await this.recipe.prepare(this.folder, ports, this.log);
    const child = serverLog.lend((descriptor) => this.spawn(launch, descriptor));
    const failed = new Promise<Error>((resolve) => child.once('error', resolve));
    child.unref();
    if (child.pid === undefined) throw new StackError(`${launch.file} cannot be started: ${(await failed).message}`);
    return { pid: child.pid, startedAt: startOf(child.pid) ?? '' };
  }

  /** Detached, so that Ctrl-C in our terminal does not reach it. */
  private spawn({ file, args }: Launch, output: number): ReturnType<typeof spawn> {
    return spawn(file, args, {
      ...this.folder.account,
      cwd: this.folder.data,
      detached: true,
      env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
      stdio: ['ignore', output, output],
    });
  }

  /** Answers false when the process ended before it answered. */
  private async becomesReady(server: ServerProcess, serverLog: ServerLog, deadline: number): Promise<boolean> {
    for (;;) {
      const reason = await this.whyNotReady();
      if (!runs(server)) return false;
      if (reason === null) return true;
      if (performance.now() > deadline) {
        throw new StackError(
          `${this.name} (process ${server.pid}) does not answer after ${READY_WITHIN_MS / 1000} s: ${reason}. ` +
            `Its log, ${this.folder.log}, says:\n${serverLog.tail()}`,
        );
      }
      await sleep(ASK_EVERY_MS);
    }
  }

  private async lostItsPorts(): Promise<boolean> {
    return (await this.ports.choose()).moved;
  }
}
