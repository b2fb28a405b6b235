import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '@deadman/embedded-postgres';
import { replaceFile } from './replace-file.js';

/** How long a server that has just been killed may take to let go of its port. Milliseconds: a guess. */
const PATIENCE_MS = 2_000;
const LOOK_EVERY_MS = 50;

/** The ports of one server, chosen once and kept in a file, so that its URL survives restarts and wipes. */
export class ServerPorts {
  constructor(
    private readonly file: string,
    private readonly count: number,
  ) {}

  /** Null before the first start. */
  remembered(): number[] | null {
    if (!existsSync(this.file)) return null;
    const ports = readFileSync(this.file, 'utf8').trim().split(' ').map(Number);
    return ports.length === this.count && ports.every((port) => port > 0) ? ports : null;
  }

  /** The ports to start on: those used last, or others when somebody has taken one meanwhile and keeps it. */
  async choose(): Promise<{ ports: number[]; moved: boolean }> {
    const last = this.remembered();
    if (last && (await becomeFree(last))) return { ports: last, moved: false };
    const ports = new Set<number>();
    while (ports.size < this.count) ports.add(await findFreePort());
    replaceFile(this.file, `${[...ports].join(' ')}\n`);
    return { ports: [...ports], moved: last !== null };
  }
}

async function becomeFree(ports: number[]): Promise<boolean> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await areFree(ports))) {
    if (performance.now() > deadline) return false;
    await sleep(LOOK_EVERY_MS);
  }
  return true;
}

async function areFree(ports: number[]): Promise<boolean> {
  const answers = await Promise.all(ports.map(isFree));
  return answers.every(Boolean);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
