import type { SeededRandom } from '@deadman/testing';
import { askRedis } from '../run/ask-redis.js';
import type { Stage } from '../run/stage.js';
import { Supervisor } from '../storm/supervisor.js';
import { workerNames } from './scenario.js';
import type { Scenario } from './scenario.js';

/** Milliseconds; scaled. */
const FOR_MS = 1_800_000;
const LEAST_MS = 30_000;

/** Quiet time between two faults, at most. Milliseconds. */
const QUIET_MS = 5_000;

/** How long Redis or Kafka is away, at most. Milliseconds; scaled. */
const AWAY_MS = 60_000;
const LEAST_AWAY_MS = 3_000;

const END_SESSIONS = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid <> pg_backend_pid() AND datname = current_database() ORDER BY random() LIMIT 3`;

interface Hand {
  readonly stage: Stage;
  readonly supervisor: Supervisor;
  readonly dice: SeededRandom;
}

type Fault = (hand: Hand) => Promise<void>;

const kill =
  (...instances: readonly string[]): Fault =>
  async ({ supervisor, dice }) => {
    await supervisor.life(dice.pick(instances))?.process.kill();
  };

const away =
  (server: 'redis' | 'kafka'): Fault =>
  async ({ stage, dice }) => {
    await stage.site.stack.kill(server);
    await stage.pause(dice.integer(LEAST_AWAY_MS, stage.scaledMs(AWAY_MS, LEAST_AWAY_MS)));
    await stage.site.stack.start(server);
  };

const APIS = ['api-1', 'api-2'];
const REAPERS = ['reaper-1', 'reaper-2'];
const CONSUMERS = ['dead-letter-consumer-1'];

/** Workers die most often: most of the protocol is about them. */
const FAULTS: Readonly<Record<string, Fault>> = {
  'a worker is killed': (hand) => kill(...workerNames(hand.stage.options.workers))(hand),
  'several workers are killed': async (hand) => {
    const names = workerNames(hand.stage.options.workers);
    await Promise.all(names.filter(() => hand.dice.next() < 0.5).map((name) => kill(name)(hand)));
  },
  'a worker stands still for two leases': async ({ stage, supervisor, dice }) => {
    const process = supervisor.life(dice.pick(workerNames(stage.options.workers)))?.process;
    process?.pause();
    await stage.pause(2 * stage.options.ttlMs);
    process?.resume();
  },
  'a reaper is killed': kill(...REAPERS),
  'an api is killed': kill(...APIS),
  'the dead-letter consumer is killed': kill(...CONSUMERS),
  'Redis is away': away('redis'),
  'Redis forgets everything': async ({ stage }) => void (await askRedis(stage.site.urls.redis, 'FLUSHALL')),
  'Kafka is away': away('kafka'),
  'PostgreSQL is shut down at once': async ({ stage }) => {
    await stage.site.stack.stop('postgres', 'SIGQUIT');
    await stage.site.stack.start('postgres');
    await stage.site.untilDatabaseAnswers();
  },
  'sessions of PostgreSQL are ended': async ({ stage }) => void (await stage.site.sql.rows(END_SESSIONS)),
};

export const everything: Scenario = {
  name: 'everything',
  number: 32,
  title: 'a mix of all faults, one after the other, for half an hour',
  fleet: () => [],
  async act(stage) {
    const supervisor = new Supervisor(stage.site);
    supervisor.keep('api', APIS);
    supervisor.keep('reaper', REAPERS);
    supervisor.keep('dead-letter-consumer', CONSUMERS);
    supervisor.keep('worker', workerNames(stage.options.workers));
    const flow = stage.flow({});
    await stage.until(() => stage.watch.ended > stage.slots, LEAST_MS * 2);
    stage.figures['faults'] = await injectFaults({ stage, supervisor, dice: stage.dice('faults') });
    await flow.stop();
    supervisor.stop();
  },
};

async function injectFaults(hand: Hand): Promise<Readonly<Record<string, number>>> {
  const { stage, dice } = hand;
  const names = Object.keys(FAULTS);
  const counts: Record<string, number> = {};
  const endsAtMs = performance.now() + stage.scaledMs(FOR_MS, LEAST_MS);
  while (performance.now() < endsAtMs && !stage.stop.aborted) {
    const name = dice.pick(names);
    stage.say(name);
    await FAULTS[name]!(hand);
    counts[name] = (counts[name] ?? 0) + 1;
    await stage.pause(dice.integer(0, QUIET_MS));
  }
  return counts;
}
