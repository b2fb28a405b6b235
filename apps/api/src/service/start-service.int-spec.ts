import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseConfig } from '@deadman/config';
import { createLogger } from '@deadman/observability';
import { migrate, readMigrations } from '@deadman/store';
import { createTestDatabase } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { apiConfig } from '../config.js';
import { startService } from './start-service.js';
import type { ApiService, ServiceDeps } from './start-service.js';

const INFO = { service: 'api', instance: 'api-test', version: '1.2.3' };

let database: TestDatabase;

beforeAll(async () => {
  const template = { key: JSON.stringify(readMigrations()), migrate: async (url: string) => void (await migrate(url)) };
  database = await createTestDatabase({ template });
});

afterAll(() => database.drop());

function depsOf(environment: Record<string, string> = {}): ServiceDeps {
  const config = parseConfig(apiConfig, {
    DATABASE_URL: database.url,
    PORT: '0',
    MANAGEMENT_PORT: '0',
    DEADMAN_QUEUES: 'orders,mail',
    ...environment,
  });
  return {
    config,
    info: INFO,
    logger: createLogger(INFO, { ...config.logging, level: 'silent' }),
    stopped: new AbortController().signal,
  };
}

async function submit({ port }: ApiService): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`http://127.0.0.1:${port}/jobs`, { method: 'POST', headers, body: '{"type":"demo.echo"}' });
}

describe('the api as a service', () => {
  it('serves on both ports, measures, and closes everything', async () => {
    const service = await startService(depsOf());
    const management = `http://127.0.0.1:${service.managementPort}`;
    const ready = await fetch(`${management}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      expect.objectContaining({ status: 'up', service: 'api' }),
    ]);
    const answer = await submit(service);
    expect([answer.status, await answer.json()]).toEqual([201, expect.objectContaining({ queue: 'orders' })]);
    const metrics = await (await fetch(`${management}/metrics`)).text();
    expect(metrics).toMatch(/http_server_request_duration_seconds_count\{[^}]*route="\/jobs"[^}]*\} 1/);
    expect(metrics).toMatch(/jobs_submitted_total\{[^}]*result="created"[^}]*\} 1/);
    await service.close();
    await expect(submit(service)).rejects.toThrow('fetch failed');
    await expect(fetch(`${management}/health/live`)).rejects.toThrow('fetch failed');
  });

  it('leaves nothing open when its port is taken', async () => {
    const first = await startService(depsOf());
    await expect(startService(depsOf({ PORT: String(first.port) }))).rejects.toThrow('EADDRINUSE');
    expect((await submit(first)).status).toBe(201);
    await first.close();
  });

  it('does not start without its database', async () => {
    await expect(startService(depsOf({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }))).rejects.toMatchObject({
      code: 'store-unavailable',
    });
  });
});
