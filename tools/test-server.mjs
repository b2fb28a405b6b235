/** The one PostgreSQL of a test run. */
import { existsSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './workspace.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const RUNS = join(ROOT, '.deadman', 'test', 'runs');

/**
 * Starts the run's server, unless DEADMAN_TEST_DATABASE_URL names one, and hands its URL to `use`. The server and its
 * data go when `use` is done, and those of earlier runs that were killed go first.
 */
export async function withTestServer(use) {
  const given = process.env.DEADMAN_TEST_DATABASE_URL;
  if (given) return use(given);
  const { startEmbeddedPostgres } = await import('../libs/embedded-postgres/dist/index.js');
  const start = (run) =>
    startEmbeddedPostgres({ dataDir: join(RUNS, run), durable: false, settings: { max_connections: '400' } });
  for (const run of abandonedRuns()) await (await start(run)).destroy();
  const server = await start(String(process.pid));
  const giveUp = (signal) => void server.destroy().then(() => process.exit(128 + constants.signals[signal]));
  for (const signal of SIGNALS) process.once(signal, giveUp);
  try {
    return await use(server.url);
  } finally {
    for (const signal of SIGNALS) process.off(signal, giveUp);
    await server.destroy();
  }
}

function abandonedRuns() {
  return existsSync(RUNS) ? readdirSync(RUNS).filter((pid) => !isAlive(Number(pid))) : [];
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
