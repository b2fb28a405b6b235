import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
import { ownMark } from './process-mark.js';
import { isAlive } from './process-table.js';
import { waitUntil } from './wait-until.js';

/** Generous: a process and its server start within seconds, on a busy machine within many. */
const LIMIT_MS = 60_000;

const PROGRAM = join(import.meta.dirname, '..', 'fixtures', 'user.mjs');

const base = mkdtempSync(join(tmpdir(), 'deadman-postgres-'));
chmodSync(base, 0o755);
const dataDir = join(base, 'data');

let processes: OtherProcess[] = [];
let clients: Client[] = [];
let joined: EmbeddedPostgres[] = [];

afterEach(async () => {
  for (const client of clients) await client.end();
  for (const other of processes) await other.kill();
  for (const server of joined) await server.stop();
  [processes, clients, joined] = [[], [], []];
});

afterAll(async () => {
  await (await startEmbeddedPostgres({ dataDir, durable: false })).destroy();
  rmSync(base, { recursive: true, force: true });
});

interface Server {
  readonly url: string;
  readonly pid: number;
}

/** A process beside ours that uses the server. */
class OtherProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly server: Server,
    /** What it says from then on. */
    readonly said: readonly string[],
  ) {}

  static async start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<OtherProcess> {
    const given = JSON.stringify({ dataDir, durable: false, ...options });
    const node = ['--experimental-transform-types', '--disable-warning=ExperimentalWarning', PROGRAM, given];
    const child = spawn(process.execPath, node, { stdio: ['pipe', 'pipe', 'inherit'] });
    const said: string[] = [];
    const server = await new Promise<Server>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`It ended with ${code}.`)));
      createInterface(child.stdout).on('line', (line) => {
        const value = JSON.parse(line) as string | Server;
        if (typeof value === 'string') return said.push(value);
        said.length = 0;
        return resolve(value);
      });
    });
    const other = new OtherProcess(child, server, said);
    processes.push(other);
    return other;
  }

  /** Resolves once it has stopped its use of the server and ended. */
  stop(): Promise<void> {
    this.child.stdin?.end();
    return this.ended();
  }

  kill(): Promise<void> {
    this.child.kill('SIGKILL');
    return this.ended();
  }

  private async ended(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}

/** Starts or joins the server in this process. */
async function share(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, durable: false, ...options });
  joined.push(server);
  return server;
}

async function connect({ url }: Server): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  clients.push(client);
  return client;
}

async function isAnswered(client: Client): Promise<boolean> {
  return (await client.query('SELECT 1')).rowCount === 1;
}

describe('embedded postgres: a server that several processes use', () => {
  it('goes on untouched when one that joined it leaves, which waits for nobody', async () => {
    const first = await share();
    const session = await connect(first);
    const second = await OtherProcess.start();
    expect(second.server.pid).toBe(first.pid);

    await second.stop();
    expect(second.said).toEqual([expect.stringMatching(/goes on: others use it/)]);
    expect(isAlive(first.pid)).toBe(true);
    expect(await isAnswered(session)).toBe(true);
  });

  it('goes on when the one that started it leaves, and ends with the last', async () => {
    const owner = await OtherProcess.start();
    const joiner = await share();
    const session = await connect(joiner);
    await owner.stop();
    expect(await isAnswered(session)).toBe(true);

    await joiner.stop();
    expect(isAlive(joiner.pid)).toBe(false);
  });

  it('ends with the last although the one that started it was killed', async () => {
    const owner = await OtherProcess.start();
    const joiner = await OtherProcess.start();
    await owner.kill();
    expect(isAlive(joiner.server.pid)).toBe(true);

    await joiner.stop();
    expect(isAlive(joiner.server.pid)).toBe(false);
  });

  it('ends when all leave at the same time', async () => {
    const others = await Promise.all([OtherProcess.start(), OtherProcess.start(), OtherProcess.start()]);
    const [pid, ...more] = new Set(others.map(({ server }) => server.pid));
    expect(more).toEqual([]);
    await Promise.all(others.map((other) => other.stop()));
    expect(isAlive(pid!)).toBe(false);
  });

  it('goes on when a start that failed had joined it', async () => {
    const first = await share();
    const session = await connect(first);
    process.kill(first.pid, 'SIGSTOP');
    try {
      await expect(share({ readyWithinMs: 100 })).rejects.toThrow(/does not answer/);
    } finally {
      process.kill(first.pid, 'SIGCONT');
    }
    expect(await isAnswered(session)).toBe(true);

    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
  });

  it('is left at once, although the lock to start or stop it is held', async () => {
    const first = await share();
    const second = await share();
    const lock = join(dataDir, 'start.lock');
    writeFileSync(lock, ownMark());
    try {
      await second.stop();
    } finally {
      rmSync(lock);
    }
    expect(isAlive(first.pid)).toBe(true);
  });

  it('is started again by one of those that watch it, and used by all', async () => {
    const first = await share({ restart: true });
    const second = await share({ restart: true });
    const other = await OtherProcess.start({ restart: true });
    const { pid } = first;
    process.kill(pid, 'SIGKILL');
    const saidOfAnswer = (): string | undefined => other.said.find((line) => line.includes('answers again'));
    const isBack = (): boolean => first.pid !== pid && second.pid !== pid && saidOfAnswer() !== undefined;
    expect(await waitUntil(isBack, LIMIT_MS)).toBe(true);
    expect(second.pid).toBe(first.pid);
    expect(saidOfAnswer()).toContain(`process ${first.pid}`);
    await first.stop();
    await other.stop();
    expect(await isAnswered(await connect(second))).toBe(true);
  });
});
