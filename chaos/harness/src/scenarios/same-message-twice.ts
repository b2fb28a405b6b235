import { TopicNames } from '@deadman/transport';
import { nothingTwice } from './rebalance-churn.js';
import type { Scenario } from './scenario.js';

const JOBS = 1_000;

const ENDED_WITHIN_MS = 300_000;

/** Counted by workers: a ticket whose job is done is stale, one whose job has another ticket waiting is a duplicate. */
const DONE_WITH = ['stale', 'duplicate'] as const;

const COUNTED_WITHIN_MS = 60_000;

const ATTEMPTS = `SELECT count(*)::integer AS count FROM deadman.attempts`;

export const sameMessageTwice: Scenario = {
  name: 'same-message-twice',
  number: 23,
  title: 'the whole topic is published again after all its jobs are done, and once more while they run',
  checks: [nothingTwice],
  async act(stage) {
    const { site } = stage;
    const topic = new TopicNames().ready(site.queue);
    await stage.submit({ jobs: stage.scaled(JOBS, 2 * stage.slots) });
    const early = await site.witness.read(topic, `witness.${topic}.early`);
    await site.witness.send(topic, early);
    await stage.until(() => stage.open <= 0, ENDED_WITHIN_MS);
    const { count: before } = await site.sql.row<{ count: number }>(ATTEMPTS);

    const doneBefore = await ticketsDone();
    const again = await site.witness.read(topic, `witness.${topic}.late`);
    await site.witness.send(topic, again);
    const tickets = again.reduce(
      (sum, { value }) => sum + (JSON.parse(String(value)) as { ids: string[] }).ids.length,
      0,
    );
    const seen = async (): Promise<boolean> => (await ticketsDone()) - doneBefore >= tickets;
    const areSeen = await stage.until(seen, COUNTED_WITHIN_MS);
    const { count: after } = await site.sql.row<{ count: number }>(ATTEMPTS);
    stage.figures['messages and tickets that were published again'] = [again.length, tickets];
    stage.find('tickets-are-counted', 'workers took every repeated ticket, and counted it', areSeen ? [] : ['not all']);
    stage.find('nothing-runs-again', 'not one attempt more', after === before ? [] : [`${after - before} attempts`]);

    async function ticketsDone(): Promise<number> {
      const workers = site.services.running.filter(({ record }) => record.service === 'worker');
      const asked = workers.flatMap((worker) => DONE_WITH.map((result) => worker.metric('tickets_total', { result })));
      return (await Promise.all(asked)).reduce((sum, value) => sum + value, 0);
    }
  },
};
