import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A Redis server of one suite: real, empty, without files, and gone at the end. */
export interface TestRedis {
  readonly url: string;
  readonly pid: number;
  /** Ends it with SIGKILL and starts an empty one on the same port. */
  restart(): Promise<void>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
}

/** Longest wait for a server that has just been started. Milliseconds. */
const READY_WITHIN_MS = 10_000;

/**
 * Starts Debian's `redis-server` on a free port. Throws when it is not installed: `npm run stack -- up` installs it.
 *
 * @param args further arguments, such as `--maxmemory-policy volatile-lru`.
 */
export async function startTestRedis(...args: string[]): Promise<TestRedis> {
  const port = await freePort();
  let server = await startServer(port, args);
  return {
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return server.pid!;
    },
    restart: async () => {
      await kill(server);
      server = await startServer(port, args);
    },
    kill: () => kill(server),
  };
}

async function startServer(port: number, args: readonly string[]): Promise<ChildProcess> {
  const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', [...fixed, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server, 'spawn');
  await isReady(server);
  server.stdout!.resume();
  return server;
}

/** The server says so itself, in the same words since its second version. */
function isReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const fail = (why: string): void => reject(new Error(`redis-server ${why}:\n${said}`));
    const timer = setTimeout(() => fail('did not become ready'), READY_WITHIN_MS);
    server.once('exit', () => fail('ended'));
    server.stdout!.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (!said.includes('Ready to accept connections')) return;
      clearTimeout(timer);
      server.removeAllListeners('exit');
      resolve();
    });
  });
}

async function kill(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.kill('SIGKILL');
  await once(server, 'exit');
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
