import type { Stage } from '../run/stage.js';
import { usualFleet } from './scenario.js';
import type { Scenario } from './scenario.js';

const ROUNDS = 2;
const BUSY = 0.8;

/** A bound against hanging. Milliseconds. */
const BUSY_WITHIN_MS = 120_000;

export const everythingAtOnce: Scenario = {
  name: 'everything-at-once',
  number: null,
  title:
    'all services, PostgreSQL, Redis and Kafka are killed with -9 in the same moment under load, and started again',
  async act(stage) {
    const flow = stage.flow({});
    for (let round = 1; round <= ROUNDS && !stage.stop.aborted; round += 1) {
      stage.say(`death ${round} of ${ROUNDS} waits for busy workers`);
      await stage.until(() => (stage.watch.states['RUNNING'] ?? 0) >= BUSY * stage.slots, BUSY_WITHIN_MS);
      await killEverything(stage);
    }
    await flow.stop();
  },
};

/** The servers come back before the services only because their addresses have to be known; nobody waits for anybody. */
async function killEverything({ site, options }: Stage): Promise<void> {
  await Promise.all([
    site.services.killAll(),
    site.stack.kill('postgres'),
    site.stack.kill('redis'),
    site.stack.kill('kafka'),
  ]);
  await Promise.all([site.startAll(usualFleet(options)), site.stack.up()]);
  await site.untilDatabaseAnswers();
}
