import type { Ownership } from '@deadman/testing';
import { TopicNames } from '@deadman/transport';
import type { Stage } from '../run/stage.js';
import { nothingTwice } from './rebalance-churn.js';
import { SURROUNDINGS, workerNames } from './scenario.js';
import type { Scenario } from './scenario.js';

const JOBS = 4_000;

/** A group settles within a rebalance timeout or two. Milliseconds; a bound against hanging. */
const SETTLED_WITHIN_MS = 90_000;

const [FIRST, SECOND] = workerNames(2) as [string, string];

export const rebalanceMidBatch: Scenario = {
  name: 'rebalance-mid-batch',
  number: null,
  title: 'a second worker joins the group while a batch runs, and the first one leaves it',
  fleet: () => [...SURROUNDINGS, ['worker', FIRST]],
  checks: [nothingTwice],
  async act(stage) {
    const { site } = stage;
    const loading = stage.submit({ jobs: stage.scaled(JOBS, 8 * stage.options.slots) });
    const before = await settled(stage, FIRST);
    await site.start('worker', SECOND);
    const shared = await settled(stage, FIRST, SECOND);
    await site.services.get(FIRST).stop();
    const after = await settled(stage, SECOND);
    await loading;
    stage.figures['partitions of each worker: at first, shared, at last'] = [before, shared, after].map((owners) =>
      Object.fromEntries([...owners].map(([name, partitions]) => [name, partitions.length])),
    );
    const moved = (shared.get(SECOND) ?? []).filter((partition) => before.get(FIRST)?.includes(partition));
    const isMoved = moved.length > 0 && after.get(SECOND)?.length === before.get(FIRST)?.length;
    stage.find('partitions-moved', 'partitions moved from one live worker to the other', isMoved ? [] : ['none did']);
  },
};

/** Once the group consists of exactly these, by the broker's word. */
async function settled(stage: Stage, ...names: readonly string[]): Promise<Ownership> {
  const { queue, witness } = stage.site;
  const topics = new TopicNames();
  const topic = topics.ready(queue);
  let owners: Ownership = new Map();
  const isSettled = await stage.until(async () => {
    // A group that nobody has joined yet, or that is between two assignments, is asked again.
    owners = (await witness.ownership(topics.groupOf(topic), topic).catch(() => null)) ?? new Map();
    return [...owners.keys()].toSorted().join() === names.toSorted().join();
  }, SETTLED_WITHIN_MS);
  if (!isSettled) throw new Error(`The group did not settle on ${names.join()}, but on ${[...owners.keys()].join()}`);
  return owners;
}
