import { SystemClock, SystemRandom } from '@deadman/config';
import { isDeadmanError } from '@deadman/domain';
import { RedisLeaseStore, RedisScripts } from '@deadman/leases';
import { createLogger } from '@deadman/observability';
import { openPostgres, PostgresStoreNotices, PostgresWorkerRegistry } from '@deadman/store';
import type { PostgresDatabase } from '@deadman/store';
import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { HeartServer } from './heart-server.js';
import { LateRegistry } from './late-registry.js';
import type { HeartSetup } from './messages.js';

/**
 * The entry of the heart's thread, whose connections are its own. The times of one beat's calls add up to less than the
 * time between two beats, at the shortest TTL too: a connection that has to be made, and the statement on it. The lease
 * store is asked at the same time.
 */
const SHARE_OF_BEAT = { connect: 0.3, statement: 0.5, command: 0.5 } as const;

/** Longest wait for any of them, however long the beat. Milliseconds (`protocol.md` §13: less in the beat). */
const MAX_WAIT_MS = 1_000;

/** One connection beats, and one waits for the moment in which that one is broken. */
const POOL_SIZE = 2;

/** Pause between two tries to reach the database at the start. Milliseconds. */
const TRY_EVERY_MS = 500;

const setup = workerData as HeartSetup;
const logger = createLogger(setup.info, setup.logging).child({ thread: 'heart' });
const registry = new LateRegistry();
const scripts = new RedisScripts({
  url: setup.redisUrl,
  connectTimeoutMs: waitMs('connect'),
  commandTimeoutMs: waitMs('command'),
});
const server = new HeartServer(
  {
    port: setup.port,
    registry,
    leases: new RedisLeaseStore(scripts),
    notices: new PostgresStoreNotices({ url: setup.databaseUrl, applicationName: `${setup.info.instance}-notices` }),
    clock: new SystemClock(),
    random: new SystemRandom(),
    onBlocked: killBlockedProcess,
  },
  setup,
);

server.show();
const database = await reach();
if (database !== null) {
  registry.found(new PostgresWorkerRegistry(database));
  await server.start();
}
await server.stopWanted;
await server.stop();
scripts.close();
await database?.close();

/** Null when the heart was told to stop before the database could be reached. */
async function reach(): Promise<PostgresDatabase | null> {
  let isWanted = true;
  void server.stopWanted.then(() => (isWanted = false));
  while (isWanted) {
    try {
      return await openPostgres({
        url: setup.databaseUrl,
        applicationName: `${setup.info.instance}-heart`,
        poolSize: POOL_SIZE,
        connectTimeoutMs: waitMs('connect'),
        statementTimeoutMs: waitMs('statement'),
      });
    } catch (error) {
      if (!isDeadmanError(error)) throw error;
      await sleep(TRY_EVERY_MS);
    }
  }
  return null;
}

function waitMs(call: keyof typeof SHARE_OF_BEAT): number {
  return Math.min(MAX_WAIT_MS, Math.floor(setup.policy.beatMs * SHARE_OF_BEAT[call]));
}

/** From here nothing can stop a handler that does not yield. The line is written at once; a thread has no stream of its own. */
function killBlockedProcess(silentMs: number): void {
  logger.fatal(
    { event: 'worker.blocked', silentMs: Math.round(silentMs) },
    'A handler blocks the process past the deadline of a job: it is killed, and its jobs lapse and run again',
  );
  process.kill(process.pid, 'SIGKILL');
}
