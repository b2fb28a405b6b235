import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { askRedis } from '../run/ask-redis.js';
import { ROOT } from '../run/frozen-code.js';
import type { Site } from '../run/site.js';

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

async function redisVersion(url: string): Promise<string> {
  return /redis_version:(\S+)/.exec(await askRedis(url, 'INFO server'))?.[1] ?? 'unknown';
}
