/** Starts what is measured, each in a process of its own, and watches its memory. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startChild } from '../tools/signals.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** As in production, but for a queue whose jobs are taken in and not run. */
const SERVICE = { NODE_ENV: 'production', DEADMAN_QUEUES: 'default,bench', DEADMAN_SERVED_QUEUES: 'default' };

const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 40_000;
const SAMPLE_EVERY_MS = 500;

export async function startBareFastify() {
  const child = start([join(ROOT, 'bench', 'bare-fastify.mjs')], {}, ['ignore', 'pipe', 'inherit']);
  const [line] = await once(createInterface(child.stdout), 'line');
  return { url: `http://127.0.0.1:${line}`, ...controls(child) };
}

/** The compiled standalone on a database of ours. Its log goes to `log`. */
export async function startStandalone({ databaseUrl, log, env = {} }) {
  const [port, managementPort] = [await freePort(), await freePort()];
  const child = start(
    [join(ROOT, 'apps', 'standalone', 'dist', 'main.js')],
    { ...env, ...SERVICE, DATABASE_URL: databaseUrl, PORT: port, MANAGEMENT_PORT: managementPort },
    ['ignore', log, log],
  );
  const ready = `http://127.0.0.1:${managementPort}/health/ready`;
  await until(async () => (await fetch(ready)).ok, READY_WITHIN_MS, 'the standalone is ready');
  return { url: `http://127.0.0.1:${port}`, ...controls(child) };
}

/** Resident memory over time, in MiB. */
export function watchMemory(pid) {
  const samples = [];
  const timer = setInterval(() => samples.push(residentMiB(pid)), SAMPLE_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return samples;
    },
  };
}

/** User and system time of a process so far, in milliseconds. */
export function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

export async function until(check, withinMs, what) {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (await check().catch(() => false)) return;
    if (performance.now() > deadline) throw new Error(`Waited ${withinMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function start(args, env, stdio) {
  return startChild(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio });
}

function controls(child) {
  return {
    pid: child.pid,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

function residentMiB(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
