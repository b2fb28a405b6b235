import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy, eventually, proxySocketFactory } from '@deadman/testing';
import { Kafka, logLevel } from 'kafkajs';
import { Client } from 'pg';
import { SERVICES, type ServiceName } from './service.js';
import { exchange } from './socket-exchange.js';
import { Stack, type ServerState } from './stack.js';

process.env['KAFKAJS_NO_PARTITIONER_WARNING'] = '1';

/** The tests go on from each other: one stack lives through all that can happen to it. */
describe('stack', () => {
  let dataDir: string;
  let stack: Stack;
  const said: string[] = [];

  beforeAll(async () => {
    // Closed to others, as every folder of this kind is: as root, the servers' account cannot go there.
    dataDir = mkdtempSync(join(tmpdir(), 'deadman-stack-'));
    stack = new Stack({ dataDir, log: (line) => said.push(line) });
    await stack.up();
  });

  afterAll(async () => {
    await stack.down();
    for (const state of await stack.status()) rmSync(state.dataDir!, { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function stateOf(service: ServiceName): Promise<ServerState> {
    return (await stack.status([service]))[0]!;
  }

  async function sql(text: string): Promise<Record<string, unknown>[]> {
    const { url } = await stateOf('postgres');
    const client = new Client({ connectionString: url! });
    await client.connect();
    try {
      return (await client.query(text)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  }

  async function redis(command: string): Promise<string> {
    const { port } = await stateOf('redis');
    const read = (received: Buffer): string | null => (received.includes('\r\n') ? received.toString().trim() : null);
    return exchange({ port: port!, send: Buffer.from(`${command}\r\n`), read, withinMs: 5_000 });
  }

  async function withAdmin<T>(act: (admin: ReturnType<Kafka['admin']>) => Promise<T>): Promise<T> {
    const { url } = await stateOf('kafka');
    const admin = new Kafka({ clientId: 'spec', brokers: [url!], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      return await act(admin);
    } finally {
      await admin.disconnect();
    }
  }

  it('up: three real servers answer real clients', async () => {
    expect(await sql('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
    expect(await sql('SHOW fsync')).toEqual([{ fsync: 'on' }]);
    expect(await redis('CONFIG GET maxmemory-policy')).toContain('noeviction');
    expect(await withAdmin((admin) => admin.describeCluster())).toMatchObject({ brokers: [{ nodeId: 1 }] });
  });

  it('up: takes what runs already, also when two ask at once', async () => {
    const before = await stack.status();
    const other = new Stack({ dataDir });
    const both = await Promise.all([stack.up(), other.up()]);
    for (const servers of both) {
      expect(servers.map(({ pid, joined }) => ({ pid, joined }))).toEqual(
        before.map(({ pid }) => ({ pid, joined: true })),
      );
    }
  });

  it('writes the URLs, processes and folders for scripts, for the owner alone', async () => {
    const states = await stack.status();
    const urls = Object.fromEntries(states.map(({ service, url }) => [service, url]));
    expect(readFileSync(join(dataDir, 'stack.env'), 'utf8')).toBe(
      `DATABASE_URL=${urls['postgres']}\nREDIS_URL=${urls['redis']}\nKAFKA_BROKERS=${urls['kafka']}\n`,
    );
    const json = JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8')) as Record<string, unknown>;
    for (const { service, pid, port, dataDir: folder, log, url } of states) {
      expect(json[service]).toEqual({ pid, port, dataDir: folder, log, url });
      expect(statSync(log!).isFile()).toBe(true);
    }
    for (const file of ['stack.env', 'stack.json']) expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
  });

  it('lends no server the rights of root', async () => {
    for (const { pid } of await stack.status()) {
      const [, uid] = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
      expect(Number(uid)).not.toBe(0);
    }
  });

  it.each(SERVICES)('%s killed from outside: status says so, and up brings it back on its port', async (service) => {
    const before = await stateOf(service);
    process.kill(before.pid!, 'SIGKILL');
    await eventually(async () => {
      expect(await stateOf(service)).toMatchObject({ pid: null, problem: 'it does not run', port: before.port });
    });
    const after = await stack.start(service);
    expect(after).toMatchObject({ joined: false, port: before.port, url: before.url });
    expect(after.pid).not.toBe(before.pid);
    expect(await stateOf(service)).toMatchObject({ problem: null, pid: after.pid });
  });

  it('kill keeps what is on disk, and Redis keeps nothing', async () => {
    await sql('CREATE TABLE kept AS SELECT 1 AS one');
    await redis('SET lease mine');
    await withAdmin((admin) => admin.createTopics({ topics: [{ topic: 'kept', numPartitions: 12 }] }));
    for (const service of SERVICES) expect(await stack.kill(service)).toBe(true);
    await stack.up();
    expect(await sql('SELECT one FROM kept')).toEqual([{ one: 1 }]);
    expect(await redis('EXISTS lease')).toBe(':0');
    const metadata = await withAdmin((admin) => admin.fetchTopicMetadata({ topics: ['kept'] }));
    expect(metadata.topics[0]!.partitions).toHaveLength(12);
  });

  it('the fault proxy stands before the broker: a record is kept whose acknowledgement was cut', async () => {
    const { url } = await stateOf('kafka');
    const proxy = await FaultProxy.start(url!);
    const kafka = new Kafka({
      clientId: 'spec',
      brokers: [proxy.url],
      logLevel: logLevel.NOTHING,
      retry: { retries: 0 },
      socketFactory: proxySocketFactory(proxy),
    });
    const producer = kafka.producer({ retry: { retries: 0 } });
    await producer.connect();
    await producer.send({ topic: 'kept', messages: [{ value: 'heard', partition: 0 }] });
    const cut = proxy.cutOneReply({ request: isProduce });
    await expect(producer.send({ topic: 'kept', messages: [{ value: 'unheard', partition: 0 }] })).rejects.toThrow(
      'Closed connection',
    );
    await cut;
    await producer.disconnect();
    await proxy.close();
    const offsets = await withAdmin((admin) => admin.fetchTopicOffsets('kept'));
    expect(offsets.find(({ partition }) => partition === 0)?.high).toBe('2');
  });

  it.each(SERVICES)('%s stopped while it is frozen still ends', async (service) => {
    process.kill((await stateOf(service)).pid!, 'SIGSTOP');
    expect(await stack.stop(service)).toBe(true);
    expect(await stack.stop(service)).toBe(false);
    await stack.start(service);
  });

  it.each(SERVICES)('wipe %s: down and empty until it is brought up again, on the same port', async (service) => {
    const { port } = await stateOf(service);
    await stack.wipe(service);
    expect(await stateOf(service)).toMatchObject({ pid: null, problem: 'it does not run' });
    await stack.wipe(service);
    expect(await stack.start(service)).toMatchObject({ joined: false, port });
  });

  it('a wiped server has forgotten everything', async () => {
    expect(await sql(`SELECT to_regclass('kept') AS kept`)).toEqual([{ kept: null }]);
    expect(await withAdmin((admin) => admin.listTopics())).toEqual([]);
  });

  it('a topic is made by nobody who merely asks for it', async () => {
    await expect(withAdmin((admin) => admin.fetchTopicMetadata({ topics: ['unheard-of'] }))).rejects.toMatchObject({
      type: 'UNKNOWN_TOPIC_OR_PARTITION',
    });
  });

  it('a port taken meanwhile: the server moves and says so, and leaves the other alone', async () => {
    const { port } = await stateOf('redis');
    await stack.stop('redis');
    const squatter = createServer();
    await once(squatter.listen(port!, '127.0.0.1'), 'listening');
    const moved = await stack.start('redis');
    expect(moved.port).not.toBe(port);
    expect(said).toContain(`redis: somebody took its port, so it moves to ${moved.port}.`);
    expect(squatter.listening).toBe(true);
    squatter.close();
  });

  it('a process that merely names the same file is not taken for the server', async () => {
    await stack.stop('redis');
    const { dataDir: folder } = await stateOf('redis');
    const reader = spawn('tail', ['-f', join(folder!, 'redis.conf')], { stdio: 'ignore' });
    await once(reader, 'spawn');
    expect(await stack.stop('redis')).toBe(false);
    expect(reader.exitCode).toBeNull();
    reader.kill();
    await stack.start('redis');
  });

  it('a server that cannot start: the error has the end of its log', async () => {
    await stack.stop('kafka');
    const { dataDir: folder } = await stateOf('kafka');
    const meta = join(folder!, 'data', 'topics', 'meta.properties');
    const whole = readFileSync(meta, 'utf8');
    writeFileSync(meta, whole.replace('node.id=1', 'node.id=7'));
    await expect(stack.start('kafka')).rejects.toThrow(/ended while starting.*Stored node id 7/s);
    writeFileSync(meta, whole);
    await stack.start('kafka');
  });

  it('servers of others: taken when they can be reached, and never touched', async () => {
    const { url, port } = await stateOf('redis');
    const guest = new Stack({ dataDir: join(dataDir, 'guest'), given: { redis: url! } });
    expect(await guest.up(['redis'])).toMatchObject([{ url, port, pid: null, joined: true }]);
    expect(readFileSync(join(dataDir, 'guest', 'stack.env'), 'utf8')).toBe(`REDIS_URL=${url}\n`);
    for (const act of [() => guest.stop('redis'), () => guest.kill('redis'), () => guest.wipe('redis')]) {
      await expect(act()).rejects.toThrow('REDIS_URL');
    }
    expect(await guest.down(['redis'])).toEqual([]);
    expect(await redis('PING')).toBe('+PONG');
  });

  it('down ends all of ours, and says which; then there is nothing to end', async () => {
    expect(await stack.down()).toEqual(['postgres', 'redis', 'kafka']);
    expect(await stack.down()).toEqual([]);
    const lost = new Stack({ dataDir, given: { redis: `redis://127.0.0.1:${(await stateOf('redis')).port}` } });
    await expect(lost.up(['redis'])).rejects.toThrow(/REDIS_URL .* ECONNREFUSED/);
  });
});

/** In a Kafka request the kind follows the size; 0 is Produce. */
function isProduce(sent: Buffer): boolean {
  return sent.length >= 6 && sent.readInt16BE(4) === 0;
}
