import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../run/frozen-code.js';
import type { Site } from '../run/site.js';

/** Longest wait for the version of a server. Milliseconds. */
const ANSWER_WITHIN_MS = 1_000;

/** On what a run was made. */
export interface Environment {
  readonly commit: string;
  readonly node: string;
  readonly postgres: string;
  readonly redis: string;
  readonly kafka: string;
  readonly system: string;
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGiB: number;
}

export async function describeEnvironment({ sql, urls }: Site): Promise<Environment> {
  const { version } = await sql.row<{ version: string }>('SELECT current_setting($1) AS version', ['server_version']);
  return {
    commit: commitOf(),
    node: process.version,
    postgres: version,
    redis: await redisVersion(urls.redis),
    kafka: kafkaVersion(),
    system: `${process.platform} ${release()}`,
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
}

/** With a + when the code has changes that no commit has. */
function commitOf(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', 'libs', 'apps') === '' ? '' : '+');
  } catch {
    return 'unknown';
  }
}

/** The version that the stack's own description of the broker names. */
function kafkaVersion(): string {
  const pom = readFileSync(join(ROOT, 'tools', 'kafka', 'pom.xml'), 'utf8');
  return /<kafka\.version>(.*?)</.exec(pom)?.[1] ?? 'unknown';
}

/** Redis answers a plain line of text; a driver would be one dependency more for one word. */
async function redisVersion(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), timeout: ANSWER_WITHIN_MS });
  socket.write('INFO server\r\n');
  socket.once('timeout', () => socket.destroy());
  try {
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return /redis_version:(\S+)/.exec(answer.toString())?.[1] ?? 'unknown';
  } finally {
    socket.destroy();
  }
}
