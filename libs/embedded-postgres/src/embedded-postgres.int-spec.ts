import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { EmbeddedPostgres, startEmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { isAlive, listProcesses } from './process-table.js';
import { waitUntil } from './wait-until.js';

/** Generous: a whole server starts within a second, on a busy machine within some. */
const LIMIT_MS = 60_000;

const itAsRoot = process.getuid?.() === 0 ? it : it.skip;

/** Holds all that the tests make. Open to the server's account; the tests of closed folders make their own in it. */
const base = mkdtempSync(join(tmpdir(), 'deadman-postgres-'));
chmodSync(base, 0o755);

/** A fresh cluster is a thousand files, so the tests that do not need one share this. */
const SHARED = join(base, 'shared');

let servers: EmbeddedPostgres[] = [];
let said: string[] = [];

afterEach(async () => {
  for (const server of servers) await (server.dataDir === SHARED ? server.stop() : server.destroy());
  servers = [];
  said = [];
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({
    dataDir: SHARED,
    durable: false,
    log: (line) => said.push(line),
    ...options,
  });
  servers.push(server);
  return server;
}

async function query(server: EmbeddedPostgres, sql: string, url = server.url): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}

async function kill(server: EmbeddedPostgres): Promise<void> {
  const { pid } = server;
  process.kill(pid, 'SIGKILL');
  expect(await waitUntil(() => !isAlive(pid), LIMIT_MS)).toBe(true);
}

async function listen(port = 0): Promise<Server> {
  const other = createServer();
  await new Promise<void>((resolve, reject) => {
    other.once('error', reject);
    other.listen(port, '127.0.0.1', resolve);
  });
  return other;
}

const portOf = (other: Server): number => (other.address() as AddressInfo).port;

describe('embedded postgres: start and stop', () => {
  it('keeps rows, port and password over a restart', async () => {
    const dataDir = join(base, 'fresh');
    const first = await start({ dataDir, durable: true });
    await query(first, "CREATE TABLE note AS SELECT 'kept' AS text");
    const { url } = first;
    await first.stop();
    const second = await start({ dataDir, durable: true });
    expect(second.url).toBe(url);
    expect(second.pid).not.toBe(first.pid);
    expect(await query(second, 'SELECT text FROM note')).toEqual([{ text: 'kept' }]);
  });

  it('lets nobody in without the password', async () => {
    const server = await start();
    const client = new Client({ host: '127.0.0.1', port: server.port, user: 'postgres', password: 'guess' });
    await expect(client.connect()).rejects.toMatchObject({ code: '28P01' });
  });

  it('starts one server when several start it at the same time, and later ones join it', async () => {
    const dataDir = join(base, 'fresh');
    const together = await Promise.all([1, 2, 3].map(() => start({ dataDir })));
    const later = await start({ dataDir });
    expect(new Set([...together, later].map(({ pid }) => pid)).size).toBe(1);
    expect(await query(later, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('stops for good, and may be told so twice', async () => {
    const server = await start({ restart: true });
    const { pid } = server;
    await server.stop();
    await server.stop();
    expect(isAlive(pid)).toBe(false);
    await expect(query(server, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('leaves nothing behind when destroyed', async () => {
    const server = await start({ dataDir: join(base, 'fresh') });
    await server.destroy();
    expect(existsSync(server.dataDir)).toBe(false);
  });
});

describe('embedded postgres: after kill -9', () => {
  it('keeps committed rows, although a busy backend outlives the server', async () => {
    const server = await start({ durable: true });
    await query(server, 'DROP TABLE IF EXISTS note');
    await query(server, "CREATE TABLE note AS SELECT 'kept' AS text");
    // Other servers run on this machine, and their backends have names of the same kind.
    const [named] = (await query(server, 'SHOW cluster_name')) as { cluster_name: string }[];
    const own = `postgres: ${named!.cluster_name}: `;
    const busy = query(server, 'SELECT count(*) FROM generate_series(1, 100000000000)').catch((error) => error);
    const backends = (): number[] =>
      listProcesses()
        .filter(({ command }) => command.startsWith(own) && command.endsWith(' SELECT'))
        .map(({ pid }) => pid);
    expect(await waitUntil(() => backends().length > 0, LIMIT_MS)).toBe(true);
    const outliving = backends();

    await kill(server);
    expect(outliving.some(isAlive)).toBe(true);
    const again = await start({ durable: true });
    expect(await query(again, 'SELECT text FROM note')).toEqual([{ text: 'kept' }]);
    expect(outliving.some(isAlive)).toBe(false);
    expect(await busy).toBeInstanceOf(Error);
  });

  it('with restart, comes back by itself at the same address, each time', async () => {
    const server = await start({ durable: true, restart: true });
    const { url } = server;
    await query(server, 'DROP TABLE IF EXISTS note');
    await query(server, 'CREATE TABLE note (round int)');
    for (const round of [1, 2]) {
      await query(server, `INSERT INTO note VALUES (${round})`);
      const before = server.pid;
      await kill(server);
      expect(await waitUntil(() => server.pid !== before, LIMIT_MS)).toBe(true);
      expect(server.url).toBe(url);
    }
    expect(await query(server, 'SELECT round FROM note ORDER BY round')).toEqual([{ round: 1 }, { round: 2 }]);
  });

  it("starts although the number in postmaster.pid is another program's by now", async () => {
    const server = await start();
    await kill(server);
    const file = join(server.dataDir, 'pgdata', 'postmaster.pid');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(process.ppid)));
    const again = await start();
    expect(await query(again, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('takes over the lock and the half-made data of a start that was killed', async () => {
    const dataDir = join(base, 'fresh');
    mkdirSync(join(dataDir, 'pgdata.new-1'), { recursive: true });
    writeFileSync(join(dataDir, 'pgdata.new-1', 'PG_VERSION'), '18\n');
    // Our own number with another start stands for a number that was given away again.
    writeFileSync(join(dataDir, 'start.lock'), `${process.pid} 1`);
    const server = await start({ dataDir });
    expect(await query(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(existsSync(join(dataDir, 'pgdata.new-1'))).toBe(false);
  });
});

describe('embedded postgres: by its Unix socket', () => {
  const HOW = 'SELECT inet_client_addr() IS NULL AS "bySocket"';

  it.each(['plain', 'with, a "comma" & more'])('answers in a folder of its own, wherever that is: %s', async (name) => {
    const server = await start({ dataDir: join(base, name) });
    expect(await query(server, HOW, server.localUrl)).toEqual([{ bySocket: true }]);
    expect(await query(server, HOW)).toEqual([{ bySocket: false }]);
    expect(statSync(join(server.dataDir, 'sockets')).mode & 0o077).toBe(0);
  });

  it('lets nobody in without the password', async () => {
    const server = await start();
    const url = new URL(server.localUrl);
    url.password = 'guess';
    await expect(query(server, HOW, url.href)).rejects.toMatchObject({ code: '28P01' });
  });

  it('goes by TCP where the path is too long for a socket', async () => {
    const server = await start({ dataDir: join(base, 'x'.repeat(100)) });
    expect(server.localUrl).toBe(server.url);
    expect(await query(server, HOW)).toEqual([{ bySocket: false }]);
  });

  it('goes by TCP when the server has no socket, although that of a killed one still lies there', async () => {
    const server = await start();
    const file = join(server.dataDir, 'pgdata', 'postmaster.pid');
    const lines = readFileSync(file, 'utf8').split('\n');
    expect(lines[4]).toBe(join(server.dataDir, 'sockets'));
    // What a server without sockets writes there.
    writeFileSync(file, lines.with(4, '').join('\n'));
    expect(server.localUrl).toBe(server.url);
    writeFileSync(file, lines.join('\n'));
    expect(server.localUrl).not.toBe(server.url);
  });

  it("starts although the number in a killed server's lock is another program's by now", async () => {
    const server = await start();
    await kill(server);
    const { uid, gid } = statSync(join(server.dataDir, 'pgdata'));
    const neighbour = spawn('sleep', ['600'], { uid, gid });
    try {
      const lock = join(server.dataDir, 'sockets', `.s.PGSQL.${server.port}.lock`);
      writeFileSync(lock, readFileSync(lock, 'utf8').replace(/^\d+/, String(neighbour.pid)));
      const again = await start();
      expect(await query(again, HOW, again.localUrl)).toEqual([{ bySocket: true }]);
    } finally {
      neighbour.kill('SIGKILL');
    }
  });
});

describe('embedded postgres: what is in the way', () => {
  it('moves to another port when the one used last is taken', async () => {
    const first = await start();
    await first.stop();
    const other = await listen(first.port);
    try {
      const second = await start();
      expect(second.port).not.toBe(first.port);
      expect(said).toContainEqual(expect.stringContaining(`Port ${first.port} is taken`));
    } finally {
      other.close();
    }
  });

  it('says so when the port it was told to use is taken', async () => {
    const other = await listen();
    try {
      await expect(start({ port: portOf(other) })).rejects.toThrow(/could not bind.*Address already in use/);
    } finally {
      other.close();
    }
  });

  it('refuses data of another major version, and leaves it alone', async () => {
    const server = await start();
    await server.stop();
    const file = join(server.dataDir, 'pgdata', 'PG_VERSION');
    const genuine = readFileSync(file, 'utf8');
    writeFileSync(file, '17\n');
    await expect(start()).rejects.toThrow(/made by PostgreSQL 17.*DATABASE_URL/s);
    expect(readFileSync(file, 'utf8')).toBe('17\n');
    writeFileSync(file, genuine);
  });

  it('passes on what the server said when it does not start', async () => {
    const server = await start();
    await server.stop();
    const failed = start({ settings: { no_such_setting: '1' } });
    await expect(failed).rejects.toThrow(EmbeddedPostgresError);
    await expect(failed).rejects.toThrow(/unrecognized configuration parameter "no_such_setting"/);
  });

  itAsRoot(
    'keeps the data elsewhere when its folder is closed to the account it runs as, and finds it again',
    async () => {
      const dataDir = join(base, 'closed', 'data');
      mkdirSync(join(base, 'closed'), { mode: 0o700, recursive: true });
      const first = await start({ dataDir });
      await query(first, "CREATE TABLE note AS SELECT 'kept' AS text");
      expect(first.dataDir.startsWith(base)).toBe(false);
      expect(said).toEqual([expect.stringContaining(first.dataDir)]);
      await first.stop();

      const second = await start({ dataDir });
      expect(second.dataDir).toBe(first.dataDir);
      expect(await query(second, 'SELECT text FROM note')).toEqual([{ text: 'kept' }]);
    },
  );

  itAsRoot('starts afresh when the folder that was asked for was removed', async () => {
    const dataDir = join(base, 'closed', 'data');
    mkdirSync(join(base, 'closed'), { mode: 0o700, recursive: true });
    const first = await start({ dataDir });
    await first.stop();
    rmSync(dataDir, { recursive: true });
    const second = await start({ dataDir });
    expect(second.dataDir).not.toBe(first.dataDir);
  });
});
