import { join } from 'node:path';
import type { ServerAccount } from '@deadman/embedded-postgres';
import { findPrograms, versionOf } from './programs.js';
import { whyRedisIsNotReady } from './redis-probe.js';
import { replaceFile } from './replace-file.js';
import { makeDataFolder, type ServerFolder } from './server-folder.js';
import type { Launch, ServerRecipe } from './server-recipe.js';
import { StackError } from './stack-error.js';

const PACKAGE = 'redis-server';

/**
 * A plain Redis that keeps nothing on disk: it holds leases and hints, which a restart may lose (`protocol.md` §9), so
 * a killed one comes back empty, as the worst case wants it. It must never evict a lease to make room.
 */
export const redisRecipe: ServerRecipe = {
  name: 'redis',
  stopSignal: 'SIGTERM',
  portCount: 1,
  missingPackages: ({ account }) => (findRedis(account) ? [] : [PACKAGE]),
  prepare,
  // Redis shows its command as it was given, since its configuration says so; in a title of its own there is no path.
  isServer: (command, folder) => command.endsWith(`redis-server ${configFile(folder)}`),
  whyNotReady: whyRedisIsNotReady,
  url: (port) => `redis://127.0.0.1:${port}`,
};

async function prepare(folder: ServerFolder, [port]: readonly number[]): Promise<Launch> {
  const program = findRedis(folder.account);
  if (!program) throw new StackError('redis-server is not installed.');
  replaceFile(configFile(folder), config(port!, makeDataFolder(folder)));
  return { file: program, args: [configFile(folder)] };
}

function findRedis(account: ServerAccount | null): string | undefined {
  return findPrograms('redis-server').find((program) => isNewEnough(versionOf(program, ['--version'], account)));
}

/** 6.2 is the first whose process title can be switched off. */
function isNewEnough(version: string | null): boolean {
  const [, major, minor] = /v=(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  return Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 2);
}

function configFile(folder: ServerFolder): string {
  return join(folder.path, 'redis.conf');
}

function config(port: number, dataFolder: string): string {
  return `bind 127.0.0.1
port ${port}
dir "${dataFolder}"
daemonize no
set-proc-title no
save ""
appendonly no
maxmemory-policy noeviction
`;
}
