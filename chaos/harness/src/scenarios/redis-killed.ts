import type { Scenario } from './scenario.js';
import { nothingTwice, rateOver } from './rebalance-churn.js';

/** How long Redis is away. Milliseconds; scaled. */
const AWAY_MS = 60_000;
const LEAST_AWAY_MS = 6_000;

const CALM_MS = 10_000;

/** Leases come back with the next beats, and trust after a TTL. In multiples of it. */
const AFTERMATH = 3;

/** Share of the calm rate at which work has to go on at least; a guess well below what is seen. */
const LEAST_SHARE = 0.5;

export const redisKilled: Scenario = {
  name: 'redis-killed',
  number: null,
  title: 'Redis is killed with -9 while leases are live, loses its data, and comes back empty',
  checks: [nothingTwice],
  async act(stage) {
    const { stack } = stage.site;
    const flow = stage.flow({});
    await stage.until(() => stage.watch.ended > stage.slots, 60_000);
    const calm = await rateOver(stage, () => stage.pause(CALM_MS));
    stage.say('Redis is gone');
    const without = await rateOver(stage, async () => {
      await stack.wipe('redis');
      await stage.pause(stage.scaledMs(AWAY_MS, LEAST_AWAY_MS));
    });
    await stack.start('redis');
    stage.say('Redis is back, and empty');
    await stage.pause(AFTERMATH * stage.options.ttlMs);
    await flow.stop();
    stage.figures['jobs a second, with Redis and without'] = [calm, without];
    const goesOn = without >= LEAST_SHARE * calm;
    stage.find(
      'work-goes-on',
      `at least ${LEAST_SHARE * 100} % of the calm rate`,
      goesOn ? [] : [`${without.toFixed(0)} of ${calm.toFixed(0)} jobs a second`],
    );
  },
};
