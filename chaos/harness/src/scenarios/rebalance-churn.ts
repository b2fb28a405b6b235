import type { Check } from '../checks/checks.js';
import type { Stage } from '../run/stage.js';
import type { Scenario } from './scenario.js';

/** How long workers come and go, and how long the calm before is measured. Milliseconds; scaled. */
const CHURN_MS = 300_000;
const CALM_MS = 60_000;
const LEAST_MS = 15_000;

/** Time between two changes. Milliseconds; not scaled: it is what keeps the group from settling. */
const CHANGE_EVERY_MS = 5_000;

/** Short runs, so that work goes on at a rate which a standing group could be seen in. Milliseconds. */
const RUN_MS = [300, 700] as const;

/** Share of the calm rate that is left at least (faults.md, scenario 22). */
const LEAST_SHARE = 0.4;

const COMER = 'worker-comes-and-goes';

export const nothingTwice: Check = {
  name: 'nothing-ran-twice',
  promise: 'no duplicate run, and no lapse',
  find: (_evidence, { duplicateRuns, lapses }) => [
    ...(duplicateRuns > 0 ? [`${duplicateRuns} duplicate runs`] : []),
    ...(lapses > 0 ? [`${lapses} lapses`] : []),
  ],
};

export const rebalanceChurn: Scenario = {
  name: 'rebalance-churn',
  number: 22,
  title: 'a worker joins or leaves the group every 5 s',
  checks: [nothingTwice],
  async act(stage) {
    const flow = stage.flow({ runMs: RUN_MS });
    await stage.until(() => stage.watch.ended > stage.slots, LEAST_MS * 2);
    stage.say('the calm before');
    const calm = await rateOver(stage, () => stage.pause(stage.scaledMs(CALM_MS, LEAST_MS)));
    const churn = await rateOver(stage, () => comeAndGo(stage));
    await flow.stop();
    stage.figures['jobs a second, calm and under churn'] = [calm, churn];
    const isEnough = churn >= LEAST_SHARE * calm;
    stage.find(
      'work-goes-on',
      `at least ${LEAST_SHARE * 100} % of the calm rate`,
      isEnough ? [] : [`${churn.toFixed(0)} of ${calm.toFixed(0)} jobs a second`],
    );
  },
};

async function comeAndGo(stage: Stage): Promise<void> {
  const { site } = stage;
  const endsAtMs = performance.now() + stage.scaledMs(CHURN_MS, 2 * LEAST_MS);
  for (let changes = 1; performance.now() < endsAtMs && !stage.stop.aborted; changes += 1) {
    stage.say(`change ${changes} of the group`);
    const running = site.services.running.find(({ instance }) => instance === COMER);
    if (running === undefined) await site.launch('worker', COMER);
    else await running.stop();
    await stage.pause(CHANGE_EVERY_MS);
  }
}

/** Jobs that end in a second while `act` goes on. */
export async function rateOver(stage: Stage, act: () => Promise<void>): Promise<number> {
  const [ended, begunMs] = [stage.watch.ended, performance.now()];
  await act();
  return ((stage.watch.ended - ended) / (performance.now() - begunMs)) * 1_000;
}
