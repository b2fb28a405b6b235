import type { Scenario } from './scenario.js';

const JOBS = 300;

const ENDED_WITHIN_MS = 120_000;

/** Sent and acknowledged by the broker, and kept all the same until the consumer has recorded them. */
const SENT = `SELECT count(*)::integer AS count FROM deadman.outbox WHERE kind = 'dead'`;

/** A relay's pass comes every few seconds; what was sent is acknowledged long before. Milliseconds. */
const ACKNOWLEDGED_MS = 5_000;

/** A row is sent again after a backoff of up to a minute (`protocol.md` §13). Milliseconds. */
const RECORDED_WITHIN_MS = 180_000;

const CONSUMER = 'dead-letter-consumer-1';

export const lettersAndAWipedBroker: Scenario = {
  name: 'letters-and-a-wiped-broker',
  number: 18,
  title: 'jobs die while nobody records it, and the broker that was told of it loses everything',
  async act(stage) {
    const { services, stack, sql } = stage.site;
    await services.get(CONSUMER).stop();
    const more = { maxAttempts: 1 };
    await stage.submit({ jobs: stage.scaled(JOBS, 50), type: 'chaos.fail', more });
    await stage.until(() => stage.open <= 0, ENDED_WITHIN_MS);
    stage.say('all are dead, the broker has been told, and is wiped');
    await stage.pause(ACKNOWLEDGED_MS);
    await stack.wipe('kafka');
    await stack.start('kafka');
    await stage.site.start('dead-letter-consumer', CONSUMER);
    stage.say('the consumer is back');
    await stage.until(async () => (await sql.row<{ count: number }>(SENT)).count === 0, RECORDED_WITHIN_MS);
  },
};
