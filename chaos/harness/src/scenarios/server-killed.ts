import type { Stage } from '../run/stage.js';
import { nothingTwice, rateOver } from './rebalance-churn.js';
import type { Scenario } from './scenario.js';

/** How long the server is away. Milliseconds; scaled. */
const AWAY_MS = 60_000;
const LEAST_AWAY_MS = 8_000;

const CALM_MS = 10_000;

/** Jobs come in as others end. */
const PER_BATCH = 5;

/**
 * Open jobs, in multiples of all slots. A job that nobody is told of is not claimed before it is 2 s old, and looked for
 * once a second (`protocol.md` §13): this many keep the slots busy all the same. With fewer, the rate would be that of
 * clients who wait, and not what the workers can do.
 */
const OPEN = 4;

/** Leases come back with the next beats, and trust after a TTL. In multiples of it. */
const AFTERMATH = 3;

/** Share of the calm rate at which work has to go on at least (faults.md, scenario 18; a guess for Redis). */
const LEAST_SHARE = 0.5;

export const redisKilled: Scenario = {
  name: 'redis-killed',
  number: 14,
  title: 'Redis is killed with -9 while leases are live, loses its data, and comes back empty',
  checks: [nothingTwice],
  act: (stage) => without(stage, 'redis', () => stage.site.stack.wipe('redis')),
};

export const brokerKilled: Scenario = {
  name: 'broker-killed',
  number: 17,
  title: 'Kafka is killed with -9 under load: jobs are handed in and done all the same',
  checks: [nothingTwice],
  act: (stage) => without(stage, 'kafka', () => stage.site.stack.kill('kafka')),
};

async function without(stage: Stage, server: 'redis' | 'kafka', kill: () => Promise<unknown>): Promise<void> {
  const flow = stage.flow({ window: OPEN * stage.slots, perBatch: PER_BATCH });
  await stage.until(() => stage.watch.ended > stage.slots, 60_000);
  const calm = await rateOver(stage, () => stage.pause(CALM_MS));
  await kill();
  stage.say(`${server} is gone`);
  const awayMs = stage.scaledMs(AWAY_MS, LEAST_AWAY_MS);
  // Of those that are open now the workers may have heard already. What counts is whether they find the others.
  const heardOf = stage.ledger.accepted.length;
  await stage.until(() => stage.watch.ended >= heardOf, awayMs);
  const meanwhile = await rateOver(stage, () => stage.pause(awayMs));
  await stage.site.stack.start(server);
  stage.say(`${server} is back`);
  await stage.pause(AFTERMATH * stage.options.ttlMs);
  await flow.stop();
  stage.figures[`jobs a second, with ${server} and without`] = [calm, meanwhile];
  const goesOn = meanwhile >= LEAST_SHARE * calm;
  stage.find(
    'work-goes-on',
    `at least ${LEAST_SHARE * 100} % of the calm rate`,
    goesOn ? [] : [`${meanwhile.toFixed(0)} of ${calm.toFixed(0)} jobs a second`],
  );
}
