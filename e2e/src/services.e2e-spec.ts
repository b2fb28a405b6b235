import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readRunning, SERVICE_NAMES, Services } from '@deadman/services';
import type { ServiceProcess } from '@deadman/services';
import type { Stack } from '@deadman/stack';
import { eventually, startTestRedis } from '@deadman/testing';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JobClient } from './job-client.js';
import { ownStack } from './run-stack.js';

const ROOT = join(import.meta.dirname, '..', '..');
const TTL_MS = 2_000;
/** A whole broker and five processes start on a busy machine. */
const TIMEOUT_MS = 240_000;

jest.setTimeout(TIMEOUT_MS);

const WORKERS = ['worker-1', 'worker-2'];
const URLS = { postgres: 'DATABASE_URL', redis: 'REDIS_URL', kafka: 'KAFKA_BROKERS' } as const;

let folder: string;
let stack: Stack;
let settings: Record<string, string>;
let services: Services;
let api: ServiceProcess;
let client: JobClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deadman-services-'));
  stack = ownStack('services');
  const urls = (await stack.up()).map(({ service, url }) => [URLS[service], url]);
  settings = {
    ...(Object.fromEntries(urls) as Record<string, string>),
    DEADMAN_LEASE_TTL_MS: String(TTL_MS),
    DEADMAN_TIMEOUT_SLACK_MS: '1000',
    DEADMAN_HANDLERS: join(import.meta.dirname, '..', 'fixtures', 'blocking-handlers.mjs'),
  };
  services = new Services({ dataDir: folder, settings });
  await services.prepare();
  await Promise.all([services.startAll({ workers: 0 }), ...WORKERS.map(startWorker)]);
  api = services.get('api-1');
  client = new JobClient(api.url, 'default');
});

/** Whatever a test did to them, the next one finds two workers. */
afterEach(async () => {
  const gone = WORKERS.filter((name) => !services.running.some(({ instance }) => instance === name));
  await Promise.all(gone.map(startWorker));
});

afterAll(async () => {
  await services?.killAll();
  for (const server of ['postgres', 'redis', 'kafka'] as const) await stack?.wipe(server);
  rmSync(folder, { recursive: true, force: true });
});

const startWorker = (name: string): Promise<ServiceProcess> => services.start('worker', name);

/** The worker that runs a job now. */
async function runnerOf(id: string): Promise<ServiceProcess> {
  return eventually(async () => {
    const running = await Promise.all(
      WORKERS.map(async (name) => {
        const worker = services.get(name);
        return { worker, busy: await worker.metric('worker_slots_busy') };
      }),
    );
    const busy = running.filter((one) => one.busy > 0);
    if ((await client.find(id)).state !== 'running' || busy.length !== 1) throw new Error('Nobody alone runs it yet');
    return busy[0]!.worker;
  });
}

describe('the four services', () => {
  it('run a job that is submitted over HTTP, told of over Kafka and leased in Redis', async () => {
    const ids: string[] = [];
    // While the consumer group still forms, an idle claim may find a job before its ticket does: submit until one is told of.
    await eventually(
      async () => {
        const { id } = await client.submit('demo.echo', { hello: ['world', 1] });
        ids.push(id);
        await client.untilEnded(id);
        const claimed = WORKERS.map((name) => services.get(name).metric('claims_total', { result: 'ticket' }));
        expect(Math.max(...(await Promise.all(claimed)))).toBeGreaterThan(0);
      },
      { withinMs: 60_000, everyMs: 100 },
    );
    for (const id of ids) {
      expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded', result: { hello: ['world', 1] } });
    }
    expect((await api.health('ready')).status).toBe('up');
  });

  it('record a death that is told of in jobs.dead, once', async () => {
    const recorder = services.get('dead-letter-consumer-1');
    const before = await recorder.metric('dead_letters_recorded_total');
    const { id } = await client.submit('demo.fail', {}, { maxAttempts: 1 });
    expect(await client.untilEnded(id)).toMatchObject({ state: 'dead', failures: 1 });
    await eventually(async () => expect(await recorder.metric('dead_letters_recorded_total')).toBe(before + 1));
    const letters = (await (await fetch(`${api.url}/dead-letters`)).json()) as { items: readonly { jobId: string }[] };
    expect(letters.items.filter(({ jobId }) => jobId === id)).toMatchObject([{ attempt: 1, reason: 'exhausted' }]);
  });

  it('start a job at its time', async () => {
    const { id } = await client.submit('demo.echo', null, { delaySeconds: 2 });
    expect(await client.find(id)).toMatchObject({ state: 'scheduled' });
    expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded' });
  });

  it('a handler that blocks its process for 1.5 × TTL keeps its job, and its neighbour, too', async () => {
    const neighbour = await client.submit('demo.sleep', { ms: 1_000 });
    const { id } = await client.submit('team.block', { ms: 1.5 * TTL_MS });
    expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded', attempt: 1, lapses: 0 });
    expect(await client.untilEnded(neighbour.id)).toMatchObject({ state: 'succeeded', attempt: 1, lapses: 0 });
  });

  it('a handler that never yields takes its process with it once its time is over, and the job runs again', async () => {
    const { id } = await client.submit('team.hang-once', null, { timeoutSeconds: 1 });
    const blocked = await Promise.race(
      WORKERS.map(async (name) => {
        const worker = services.get(name);
        return { worker, end: await worker.ended };
      }),
    );
    expect(blocked.end).toEqual({ code: null, signal: 'SIGKILL' });
    expect(blocked.worker.lines('worker.blocked')).toMatchObject([{ level: 'fatal', thread: 'heart' }]);
    expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded', result: 'not this time', lapses: 1 });
  });

  it('SIGTERM lets a worker finish what it runs: nothing lapses, nothing runs twice', async () => {
    const { id } = await client.submit('demo.sleep', { ms: 2_000 });
    const leaving = await runnerOf(id);
    expect(await leaving.stop()).toEqual({ code: 0, signal: null });
    expect(await client.find(id)).toMatchObject({ state: 'succeeded', attempt: 1, lapses: 0 });
    expect(leaving.lines().at(-1)).toMatchObject({ event: 'service.stopped', exitCode: 0 });
  });

  it('refuse an invalid configuration with 78, naming every fault', async () => {
    const wrong = { DATABASE_URL: '', KAFKA_BROKERS: 'none' };
    const refused = await Promise.all(SERVICE_NAMES.map((name) => services.launch(name, `refused-${name}`, wrong)));
    for (const service of refused) {
      expect(await service.ended).toEqual({ code: 78, signal: null });
      expect(service.said).toContain('DATABASE_URL');
      expect(service.said).toContain('KAFKA_BROKERS');
    }
  });

  it('tell of topics with too few partitions: who consumes them ends with 78, who only sends to them serves', async () => {
    const more = { DEADMAN_KAFKA_PARTITIONS: '24' };
    const [worker, recorder, sender, reaper] = await Promise.all(
      (['worker', 'dead-letter-consumer', 'api', 'reaper'] as const).map((name) =>
        services.launch(name, `more-${name}`, more),
      ),
    );
    for (const consumer of [worker!, recorder!]) expect(await consumer.ended).toEqual({ code: 78, signal: null });
    for (const service of [sender!, reaper!]) {
      await eventually(
        async () => expect((await service.health('ready')).checks['topics']).toMatchObject({ status: 'down' }),
        { withinMs: 60_000 },
      );
      const { status, checks } = await service.health('ready');
      expect([status, checks['topics']!.error]).toEqual([
        'degraded',
        expect.stringContaining('where 24 are configured'),
      ]);
      expect(service.lines('kafka.topics-invalid')).toMatchObject([{ level: 'error' }]);
    }
    const { id } = await new JobClient(sender!.url, 'default').submit('demo.echo', 'all the same');
    expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded' });
    for (const service of [sender!, reaper!]) expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  it('refuse a Redis that may drop leases', async () => {
    const redis = await startTestRedis('--maxmemory-policy', 'volatile-lru');
    const names = ['worker', 'reaper'] as const;
    const refused = await Promise.all(
      names.map((name) => services.launch(name, `evicting-${name}`, { REDIS_URL: redis.url })),
    );
    for (const service of refused) {
      expect(await service.ended).toEqual({ code: 78, signal: null });
      expect(service.lines('service.refused')).toMatchObject([{ msg: expect.stringContaining('volatile-lru') }]);
    }
    await redis.kill();
  });

  it('are started and stopped by one command, which tells where they are', async () => {
    const command = new CommandRun(['--workers', '2'], folder);
    await command.untilSaid(/Ctrl-C stops them/);
    expect(command.said.match(/^(worker|api|reaper|dead-letter-consumer)-\d /gm)).toHaveLength(5);
    const records = readRunning(command.dataDir);
    expect(records.map(({ service }) => service)).toEqual([
      'api',
      'worker',
      'worker',
      'reaper',
      'dead-letter-consumer',
    ]);
    const status = new CommandRun(['status'], folder);
    expect([await status.ended, status.said.match(/ up$| degraded$/gm)?.length]).toEqual([0, 5]);
    const second = new CommandRun([], folder);
    expect([await second.ended, second.said]).toEqual([1, expect.stringContaining('They run already')]);
    expect(readRunning(command.dataDir)).toHaveLength(5);

    process.kill(records[1]!.pid, 'SIGKILL');
    await command.untilSaid(/worker-1 has ended \(SIGKILL\)/);
    expect(readRunning(command.dataDir)).toHaveLength(4);
    command.interrupt();
    expect(await command.ended).toBe(0);
    expect(readRunning(command.dataDir)).toEqual([]);
    expect(await new CommandRun(['status'], folder).ended).toBe(1);
  });

  it('are not started any more once the command that starts them is told to stop', async () => {
    const command = new CommandRun([], join(folder, 'early'));
    await eventually(() => expect(existsSync(join(command.dataDir, 'services', 'api-1.log'))).toBe(true), {
      withinMs: 120_000,
      everyMs: 5,
    });
    command.interrupt();
    expect(await command.ended).toBe(0);
    expect(command.said).toContain('All have stopped.');
    expect(command.said).not.toContain('Ctrl-C stops them');
    expect(readRunning(command.dataDir)).toEqual([]);
  });

  it('end with 70 and say so when a worker can neither finish nor hand back what it runs', async () => {
    await Promise.all(WORKERS.map((name) => services.get(name).stop()));
    const worker = await services.start('worker', 'worker-cut-off', {
      DEADMAN_DRAIN_MS: '0',
      DEADMAN_ABORT_GRACE_MS: '0',
    });
    const { id } = await client.submit('demo.sleep', { ms: 3_600_000 });
    await eventually(async () => expect((await client.find(id)).state).toBe('running'), { withinMs: 60_000 });
    await stack.stop('postgres');
    const end = await worker.stop();
    await stack.up();
    expect(end).toEqual({ code: 70, signal: null });
    expect(worker.lines('service.jobs-left')).toMatchObject([{ count: 1 }]);
  });

  it('live while everything they need is away, and begin by themselves when it is there', async () => {
    await services.stopAll();
    for (const server of ['kafka', 'redis', 'postgres'] as const) await stack.stop(server);
    const names = ['api-1', 'worker-1', 'worker-2', 'reaper-1', 'dead-letter-consumer-1'] as const;
    const waiting = await Promise.all(
      names.map((name) => services.launch(name.replace(/-\d$/, '') as Parameters<Services['launch']>[0], name)),
    );
    for (const service of waiting) {
      await eventually(async () => expect((await service.health('live')).status).toBe('up'), { withinMs: 60_000 });
      expect((await service.health('ready')).status).toBe('down');
    }
    await stack.up();
    await Promise.all(waiting.map((service) => service.untilReady()));
    const { id } = await client.submit('demo.echo', 'again');
    expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded' });
    expect(waiting.every(({ isRunning }) => isRunning)).toBe(true);
  });
});

/** `npm run services` on the servers of these tests, with a data folder of its own. */
class CommandRun {
  readonly dataDir: string;
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  said = '';

  constructor(args: readonly string[], home: string) {
    this.dataDir = join(home, 'command');
    mkdirSync(this.dataDir, { recursive: true });
    const { DATABASE_URL, REDIS_URL, KAFKA_BROKERS } = settings as Record<string, string>;
    this.#child = spawn(process.execPath, [join(ROOT, 'tools', 'services.mjs'), ...args], {
      cwd: ROOT,
      env: {
        PATH: process.env['PATH'],
        DEADMAN_DATA_DIR: this.dataDir,
        DATABASE_URL,
        REDIS_URL,
        KAFKA_BROKERS,
        PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', (chunk: Buffer) => (this.said += chunk.toString()));
    }
    this.ended = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)));
  }

  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  untilSaid(pattern: RegExp): Promise<void> {
    return eventually(() => expect(this.said).toMatch(pattern), { withinMs: 120_000, everyMs: 50 });
  }
}
