import { startEmbeddedPostgres } from '@deadman/embedded-postgres';
import type { EmbeddedPostgres } from '@deadman/embedded-postgres';
import { eventually } from '@deadman/testing';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '..', '..', 'apps', 'standalone', 'dist', 'main.js');

/** Bound for a start on a busy machine, the making of a database included. Milliseconds. */
const READY_WITHIN_MS = 60_000;

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A place of its own on this machine: a data folder, ports, and the settings that each start here gets. */
export class Site {
  readonly folder = mkdtempSync(join(tmpdir(), 'deadman-e2e-'));
  readonly port: number;
  readonly managementPort: number;
  readonly #env: Readonly<Record<string, string>>;
  readonly #started: StandaloneProcess[] = [];

  private constructor(port: number, managementPort: number, env: Readonly<Record<string, string>>) {
    this.port = port;
    this.managementPort = managementPort;
    this.#env = env;
  }

  static async open(env: Readonly<Record<string, string>> = {}): Promise<Site> {
    return new Site(await findPort(), await findPort(), env);
  }

  /** Where the embedded PostgreSQL of this place keeps its data. */
  get postgresFolder(): string {
    return join(this.folder, 'data', 'postgres');
  }

  /** Starts the process and does not wait for it. */
  launch(env: Readonly<Record<string, string>> = {}): StandaloneProcess {
    const started = new StandaloneProcess(this, {
      // Nothing of the environment that the tests run in: each unknown setting would be refused.
      PATH: process.env['PATH'] ?? '',
      NODE_ENV: 'test',
      PORT: String(this.port),
      MANAGEMENT_PORT: String(this.managementPort),
      DEADMAN_DATA_DIR: join(this.folder, 'data'),
      DEADMAN_LEASE_TTL_MS: '2000',
      ...this.#env,
      ...env,
    });
    this.#started.push(started);
    return started;
  }

  /** Starts the process and waits until it says that it is ready. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<StandaloneProcess> {
    const started = this.launch(env);
    await started.untilReady();
    return started;
  }

  /** Joins the embedded PostgreSQL that runs here, to look at its process or to remove it. */
  joinPostgres(): Promise<EmbeddedPostgres> {
    return startEmbeddedPostgres({ dataDir: this.postgresFolder });
  }

  /** Ends what was started here and still runs. Its PostgreSQL goes on, and the next start joins it. */
  async killAll(): Promise<void> {
    for (const started of this.#started) started.kill('SIGKILL');
    await Promise.all(this.#started.map(({ ended }) => ended));
  }

  /** Ends everything and removes what it left behind. */
  async close(): Promise<void> {
    await this.killAll();
    // Also finds data that had to be put outside the folder, where the server's account can reach it.
    if (existsSync(this.postgresFolder)) await (await this.joinPostgres()).destroy();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A standalone Deadman, started from its compiled files with plain Node. */
export class StandaloneProcess {
  readonly url: string;
  readonly managementUrl: string;
  readonly ended: Promise<End>;
  readonly #child: ChildProcess;
  #output = '';

  constructor(site: Site, env: Readonly<Record<string, string>>) {
    this.url = `http://127.0.0.1:${site.port}`;
    this.managementUrl = `http://127.0.0.1:${site.managementPort}`;
    const child = spawn(process.execPath, [MAIN], { cwd: site.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (this.#output += String(chunk)));
    this.ended = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
    this.#child = child;
  }

  /** Everything it has said on both streams. */
  get output(): string {
    return this.#output;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Waits until it has said `count` things that match, and returns them. */
  untilSaid(pattern: RegExp, count: number): Promise<readonly string[]> {
    return eventually(() => {
      const said = this.#output.match(pattern) ?? [];
      if (said.length < count) throw new Error(`It has not said ${count} × ${pattern}:\n${this.#output}`);
      return said;
    });
  }

  async untilReady(): Promise<void> {
    await eventually(
      async () => {
        const { exitCode } = this.#child;
        if (exitCode !== null) throw new Error(`It ended with ${exitCode}:\n${this.#output}`);
        const answer = await fetch(`${this.managementUrl}/health/ready`);
        if (!answer.ok) throw new Error(`It is not ready: ${await answer.text()}\n${this.#output}`);
      },
      { withinMs: READY_WITHIN_MS, everyMs: 50 },
    );
  }
}

/** A port that nothing listens on now. */
async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
