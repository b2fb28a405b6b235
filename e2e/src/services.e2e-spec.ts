import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Services } from '@deadman/services';
import type { ServiceProcess } from '@deadman/services';
import { Stack } from '@deadman/stack';
import { eventually, startTestRedis } from '@deadman/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JobClient } from './job-client.js';

const TTL_MS = 2_000;
/** A whole broker and five processes start on a busy machine. */
const TIMEOUT_MS = 240_000;

const URLS = { postgres: 'DATABASE_URL', redis: 'REDIS_URL', kafka: 'KAFKA_BROKERS' } as const;

let folder: string;
let stack: Stack;
let settings: Record<string, string>;
let services: Services;
let api: ServiceProcess;
let client: JobClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deadman-services-'));
  stack = new Stack({ dataDir: folder });
  const urls = (await stack.up()).map(({ service, url }) => [URLS[service], url]);
  settings = {
    ...(Object.fromEntries(urls) as Record<string, string>),
    DEADMAN_LEASE_TTL_MS: String(TTL_MS),
    DEADMAN_TIMEOUT_SLACK_MS: '1000',
    DEADMAN_HANDLERS: join(import.meta.dirname, '..', 'fixtures', 'blocking-handlers.mjs'),
  };
  services = new Services({ dataDir: folder, settings });
  await services.prepare();
  await services.startAll({ workers: 2 });
  api = services.get('api-1');
  client = new JobClient(api.url, 'default');
}, TIMEOUT_MS);

/** Whatever a test did to them, the next one finds two workers. */
afterEach(async () => {
  for (const name of ['worker-1', 'worker-2']) {
    if (!services.running.some(({ instance }) => instance === name)) await services.start('worker', name);
  }
}, TIMEOUT_MS);

afterAll(async () => {
  await services?.killAll();
  for (const server of ['postgres', 'redis', 'kafka'] as const) await stack?.wipe(server);
  rmSync(folder, { recursive: true, force: true });
}, TIMEOUT_MS);

/** The worker that runs a job now. */
async function runnerOf(id: string): Promise<ServiceProcess> {
  return eventually(async () => {
    const running = await Promise.all(
      ['worker-1', 'worker-2'].map(async (name) => {
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
    const { id } = await client.submit('demo.echo', { hello: ['world', 1] });
    expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded', result: { hello: ['world', 1] } });
    const claimed = await Promise.all(
      ['worker-1', 'worker-2'].map((name) => services.get(name).metric('claims_total', { result: 'ticket' })),
    );
    expect(Math.max(...claimed)).toBeGreaterThan(0);
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

  it('cancel a running job from the api, at once', async () => {
    const { id } = await client.submit('demo.sleep', { ms: 86_400_000 });
    await runnerOf(id);
    await client.cancel(id);
    expect(await client.untilEnded(id)).toMatchObject({ state: 'cancelled', attempt: 1, lapses: 0 });
  });

  it('kill -9 of a worker mid-job: another runs it, and the job tells who took it and why', async () => {
    const { id } = await client.submit('demo.sleep', { ms: 3_000 });
    const killed = await runnerOf(id);
    await killed.kill();
    const killedAt = Date.now();
    await eventually(async () => expect(await client.find(id)).toMatchObject({ state: 'running', attempt: 2 }), {
      withinMs: TTL_MS + 20_000,
    });
    console.info(`killed: started again ${Date.now() - killedAt} ms later, at a TTL of ${TTL_MS} ms`);
    expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded', failures: 0, lapses: 1 });
    expect(await client.attempts(id)).toMatchObject([
      { outcome: 'lapsed', reclaimedBy: 'reaper-1', reason: 'lease-lapsed' },
      { outcome: 'succeeded', reclaimedBy: null },
    ]);
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
      ['worker-1', 'worker-2'].map(async (name) => {
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

  it('go on after a failpoint killed a worker between its claim and its lease', async () => {
    await services.get('worker-2').stop();
    await services.get('worker-1').stop();
    const doomed = await services.start('worker', 'worker-1', { DEADMAN_FAILPOINT: 'after_claim:kill@1' });
    const { id } = await client.submit('demo.echo', 1);
    expect(await doomed.ended).toEqual({ code: null, signal: 'SIGKILL' });
    await services.start('worker', 'worker-2');
    expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded', attempt: 2, lapses: 1 });
  });

  it('refuse an invalid configuration with 78, naming every fault', async () => {
    for (const service of ['api', 'worker', 'reaper', 'dead-letter-consumer'] as const) {
      const refused = await services.launch(service, `refused-${service}`, { DATABASE_URL: '', KAFKA_BROKERS: 'none' });
      expect(await refused.ended).toEqual({ code: 78, signal: null });
      expect(refused.said).toContain('DATABASE_URL');
      expect(refused.said).toContain('KAFKA_BROKERS');
    }
  });

  it('refuse a Redis that may drop leases', async () => {
    const redis = await startTestRedis('--maxmemory-policy', 'volatile-lru');
    for (const service of ['worker', 'reaper'] as const) {
      const refused = await services.launch(service, `evicted-${service}`, { REDIS_URL: redis.url });
      expect(await refused.ended).toEqual({ code: 78, signal: null });
      expect(refused.lines('service.refused')).toMatchObject([{ msg: expect.stringContaining('volatile-lru') }]);
    }
    await redis.kill();
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
