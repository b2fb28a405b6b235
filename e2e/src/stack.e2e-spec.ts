import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '@deadman/testing';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Ended {
  code: number | null;
  output: string;
}

// A broker's start takes seconds, and on a fresh machine the first one is fetched.
jest.setTimeout(300_000);

describe('npm run stack', () => {
  let dataDir: string;

  beforeAll(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'deadman-stack-command-'));
  });

  afterAll(async () => {
    await stack('down');
    for (const name of ['redis', 'kafka']) rmSync(record(name).dataDir, { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
  });

  function start(...args: string[]): ReturnType<typeof spawn> {
    const { DATABASE_URL: _, REDIS_URL: __, KAFKA_BROKERS: ___, ...env } = process.env;
    return spawn('npm', ['run', '--silent', 'stack', '--', ...args], {
      cwd: ROOT,
      env: { ...env, DEADMAN_DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  async function stack(...args: string[]): Promise<Ended> {
    const child = start(...args);
    let output = '';
    child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr!.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  }

  function record(service: string): { pid: number; port: number; dataDir: string } {
    const json = readFileSync(join(dataDir, 'stack.json'), 'utf8');
    return (JSON.parse(json) as Record<string, ReturnType<typeof record>>)[service]!;
  }

  it('up, status, kill -9, up again, wipe, down', async () => {
    const first = await stack('up', 'redis');
    expect(first).toMatchObject({ code: 0, output: expect.stringContaining('redis: answers after') });
    expect(await stack('up', 'redis')).toMatchObject({ code: 0, output: expect.stringContaining('runs already') });
    const { pid, port } = record('redis');
    expect(await stack('status', 'redis')).toMatchObject({ code: 0, output: expect.stringContaining(String(pid)) });

    process.kill(pid, 'SIGKILL');
    await eventually(async () => {
      expect(await stack('status', 'redis')).toMatchObject({ code: 1, output: expect.stringContaining('down') });
    });
    expect(await stack('up', 'redis')).toMatchObject({ code: 0 });
    expect(record('redis').port).toBe(port);
    expect(record('redis').pid).not.toBe(pid);

    expect(await stack('wipe', 'redis')).toMatchObject({ code: 0 });
    expect(await stack('status', 'redis')).toMatchObject({ code: 1 });
    expect(await stack('up', 'redis')).toMatchObject({ code: 0 });
    expect(await stack('down')).toMatchObject({ code: 0, output: 'Ended: redis.\n' });
    expect(await stack('down')).toMatchObject({ code: 0, output: 'Nothing of ours was running.\n' });
  });

  it('killed while it starts a broker: the next one takes that broker, and starts no second', async () => {
    const killed = start('up', 'kafka');
    const tool = await eventually(() => lockHolder('kafka'), { withinMs: 120_000 });
    const broker = await eventually(() => brokerOf(tool), { withinMs: 120_000 });
    process.kill(tool, 'SIGKILL');
    await once(killed, 'close');
    expect(await stack('up', 'kafka')).toMatchObject({ code: 0, output: expect.stringContaining('runs already') });
    expect(record('kafka').pid).toBe(broker);
    expect(await stack('down')).toMatchObject({ code: 0, output: 'Ended: kafka.\n' });
  });

  it('says how it is used, when asked for what is not there or for harm to nobody in particular', async () => {
    for (const args of [[], ['restart'], ['up', 'mysql'], ['wipe'], ['toString']]) {
      expect(await stack(...args)).toMatchObject({ code: 2, output: expect.stringContaining('npm run stack --') });
    }
  });

  /** The tool that starts a service; npm stands between it and us. */
  function lockHolder(service: string): number {
    return Number(readFileSync(join(dataDir, 'stack', `${service}.lock`), 'utf8').split(' ')[0]);
  }

  function brokerOf(tool: number): number {
    const children = readFileSync(`/proc/${tool}/task/${tool}/children`, 'utf8').trim().split(' ').map(Number);
    const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0kafka.Kafka\0'));
    if (!found) throw new Error('it has not started the broker yet');
    return found;
  }
});
