import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parseConfig, SystemClock, SystemIds, SystemRandom } from '@deadman/config';
import { NO_FAILPOINTS } from '@deadman/domain';
import { createLogger } from '@deadman/observability';
import { Teardown } from '@deadman/service-host';
import type { RunningService, ServiceContext } from '@deadman/service-host';
import { migrate, readMigrations } from '@deadman/store';
import { createTestDatabase, eventually } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { apiConfig } from '../config.js';
import type { ApiConfig } from '../config.js';
import { startApi } from './start-api.js';

const INFO = { service: 'api', instance: 'api-test', version: '1.2.3' };

let database: TestDatabase;
let contexts: { readonly context: ServiceContext<ApiConfig>; readonly stop: AbortController }[];

beforeAll(async () => {
  const template = { key: JSON.stringify(readMigrations()), migrate: async (url: string) => void (await migrate(url)) };
  database = await createTestDatabase({ template });
  contexts = [];
});

afterEach(async () => {
  for (const { context, stop } of contexts.splice(0)) {
    stop.abort();
    await context.teardown.run();
  }
});

afterAll(() => database.drop());

/** Nobody is at these brokers: an api serves without. */
function contextOf(environment: Record<string, string> = {}): ServiceContext<ApiConfig> {
  const config = parseConfig(apiConfig, {
    DATABASE_URL: database.url,
    KAFKA_BROKERS: '127.0.0.1:1',
    PORT: '0',
    MANAGEMENT_PORT: '0',
    DEADMAN_QUEUES: 'orders,mail',
    ...environment,
  });
  const stop = new AbortController();
  const fail = (error: unknown): never => {
    throw error;
  };
  const context: ServiceContext<ApiConfig> = {
    config,
    info: INFO,
    logger: createLogger(INFO, { ...config.logging, level: 'silent' }),
    teardown: new Teardown((name, error) => fail(new Error(name, { cause: error }))),
    clock: new SystemClock(),
    random: new SystemRandom(),
    ids: new SystemIds(),
    failpoints: NO_FAILPOINTS,
    stopped: stop.signal,
    hurry: new AbortController().signal,
    crash: fail,
    leaveBehind: (jobs) => fail(new Error(`${jobs} jobs were left`)),
    giveUp: (_code, error) => fail(error),
  };
  contexts.push({ context, stop });
  return context;
}

const urlOf = ({ facts }: RunningService, port: 'port' | 'managementPort'): string =>
  `http://127.0.0.1:${String(facts[port])}`;

async function submit(service: RunningService): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${urlOf(service, 'port')}/jobs`, { method: 'POST', headers, body: '{"type":"demo.echo"}' });
}

describe('the api as a service', () => {
  it('serves on both ports while Kafka is away, measures, and closes everything', async () => {
    const service = await startApi(contextOf());
    const management = urlOf(service, 'managementPort');
    const ready = await eventually(async () => {
      const answer = await fetch(`${management}/health/ready`);
      expect(answer.status).toBe(200);
      return answer.json();
    });
    expect(ready).toMatchObject({ status: 'degraded', service: 'api', checks: { kafka: { error: 'ECONNREFUSED' } } });
    const answer = await submit(service);
    expect([answer.status, await answer.json()]).toEqual([201, expect.objectContaining({ queue: 'orders' })]);
    const metrics = await (await fetch(`${management}/metrics`)).text();
    expect(metrics).toMatch(/http_server_request_duration_seconds_count\{[^}]*route="\/jobs"[^}]*\} 1/);
    expect(metrics).toMatch(/jobs_submitted_total\{[^}]*result="created"[^}]*\} 1/);
    await service.close();
    await expect(submit(service)).rejects.toThrow('fetch failed');
    await expect(fetch(`${management}/health/live`)).rejects.toThrow('fetch failed');
  });

  it.each(['PORT', 'MANAGEMENT_PORT'])('refuses to start when its %s is taken, and says so', async (setting) => {
    const first = await startApi(contextOf());
    const port = String(first.facts[setting === 'PORT' ? 'port' : 'managementPort']);
    await expect(startApi(contextOf({ [setting]: port }))).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining(`set ${setting} to another port`),
    });
    expect((await submit(first)).status).toBe(201);
    await first.close();
  });

  it('lives and waits while its database is away, and ends when it is told to', async () => {
    const context = contextOf({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', MANAGEMENT_PORT: '18991' });
    const starting = startApi(context);
    const [live, ready] = await eventually(() =>
      Promise.all(['live', 'ready'].map((what) => fetch(`http://127.0.0.1:18991/health/${what}`))),
    );
    expect([live!.status, ready!.status]).toEqual([200, 503]);
    contexts.at(-1)!.stop.abort();
    await expect(starting).rejects.toMatchObject({ exitCode: 69 });
  });
});
