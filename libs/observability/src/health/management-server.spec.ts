import { FakeClock } from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '../logs/logger.js';
import { createMetricsRegistry } from '../metrics/metrics-registry.js';
import { logHealth, measureHealth } from './health-listeners.js';
import { HealthRegistry } from './health-registry.js';
import { startManagementServer } from './management-server.js';
import type { ManagementServer } from './management-server.js';

const INFO = { service: 'api', instance: 'api-1', version: '1.2.3' };

describe('startManagementServer', () => {
  let health: HealthRegistry;
  let server: ManagementServer;
  let isDatabaseUp: boolean;
  let lines: string[];

  beforeEach(async () => {
    isDatabaseUp = true;
    lines = [];
    health = new HealthRegistry(INFO, new FakeClock());
    const check = async (): Promise<void> => {
      if (!isDatabaseUp) throw new Error('away');
    };
    health.add({ name: 'postgres', critical: true, effect: 'nothing works', check });
    const metrics = createMetricsRegistry(INFO);
    const write = (line: string): void => void lines.push(line);
    measureHealth(health, metrics);
    logHealth(health, createLogger(INFO, { level: 'info', format: 'json' }, { write }));
    server = await startManagementServer({ host: '127.0.0.1', port: 0, health, metrics, info: INFO });
  });

  afterEach(async () => {
    health.stop();
    await server.close();
  });

  const get = (path: string, method = 'GET'): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port}${path}`, { method });

  it.each(['/health/live', '/health/ready', '/health/startup', '/metrics', '/version'])(
    '%s answers 200 to GET and HEAD, and may not be cached',
    async (path) => {
      await health.start();
      const [answer, head] = [await get(path), await get(path, 'HEAD')];
      expect([answer.status, head.status]).toEqual([200, 200]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(head.headers.get('cache-control')).toBe('no-store');
      expect(await head.text()).toBe('');
      expect(await answer.text()).not.toBe('');
    },
  );

  it('is not ready and not started, but alive, before the database was there', async () => {
    isDatabaseUp = false;
    await health.start();
    const statuses = await Promise.all(
      ['/health/ready', '/health/startup', '/health/live'].map(async (path) => (await get(path)).status),
    );
    expect(statuses).toEqual([503, 503, 200]);
  });

  it('answers 503 with a body that says why', async () => {
    await health.start();
    health.drain();
    const answer = await get('/health/ready');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      status: 'down',
      service: 'api',
      checks: { shutdown: { error: 'draining' } },
    });
  });

  it('tells version and runtime', async () => {
    expect(await (await get('/version')).json()).toEqual({ ...INFO, node: process.versions.node });
  });

  it('serves metrics in the exposition format, with dependency_up for each check', async () => {
    const before = await (await get('/metrics')).text();
    expect(before).toContain('deadman_dependency_up{dependency="postgres"} 0');
    await health.start();
    const answer = await get('/metrics');
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(await answer.text()).toContain('deadman_dependency_up{dependency="postgres"} 1');
  });

  it('answers 404 to anything else', async () => {
    expect((await get('/health')).status).toBe(404);
    expect((await get('/health/live', 'POST')).status).toBe(404);
  });

  it('logs no request, and each change of a dependency', async () => {
    await health.start();
    await get('/health/ready');
    expect(lines.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(['dependency.up']);
  });

  it('closes once for all', async () => {
    await server.close();
    await server.close();
    await expect(get('/version')).rejects.toThrow('fetch failed');
  });
});
