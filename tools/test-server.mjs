/** The servers of a test run. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './workspace.mjs';

const RUNS = join(ROOT, '.deadman', 'test', 'runs');
const STACKS = join(ROOT, '.deadman', 'test', 'stacks');

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
  for (const run of abandoned(RUNS)) await (await start(run)).destroy();
  const server = await start(String(process.pid));
  try {
    return await use(server.url);
  } finally {
    await server.destroy();
  }
}

/**
 * Starts the run's Redis and Kafka, installing them where that can be done, and hands what tests are told of them to
 * `use`. End-to-end tests take the whole stack from its folder; those that kill or wipe a server start one of their own,
 * of which nothing is left when the run has ended. Servers of earlier runs that were killed go first.
 */
export async function withTestStack(use) {
  const { Stack } = await import('../libs/stack/dist/index.js');
  const at = (dataDir) => new Stack({ dataDir, log: (line) => process.stdout.write(`${line}\n`) });
  for (const run of abandoned(STACKS)) await remove(at, run);
  const run = String(process.pid);
  const stack = at(join(STACKS, run));
  try {
    const [, kafka] = await stack.up(['redis', 'kafka']);
    return await use({ DEADMAN_TEST_KAFKA_BROKERS: kafka.url, DEADMAN_TEST_STACK_DIR: join(STACKS, run) });
  } finally {
    await remove(at, run);
  }
}

/** The run's own servers, and those of suites that did not live to remove theirs. */
async function remove(at, run) {
  const suites = join(STACKS, run, 'suites');
  const names = existsSync(suites) ? readdirSync(suites) : [];
  for (const folder of [...names.map((name) => join(suites, name)), join(STACKS, run)]) {
    for (const service of ['postgres', 'redis', 'kafka']) await at(folder).wipe(service);
  }
  rmSync(join(STACKS, run), { recursive: true, force: true });
}

function abandoned(folder) {
  return existsSync(folder) ? readdirSync(folder).filter((pid) => !isAlive(Number(pid))) : [];
}

export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
