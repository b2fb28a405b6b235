import type { Check } from '../checks/checks.js';
import type { LiveProcess, Site } from '../run/site.js';
import type { Stage } from '../run/stage.js';
import { workerNames } from './scenario.js';
import type { Scenario } from './scenario.js';

/** Workers that are killed, for there to be something to reap. */
const WORKER_KILLS = 20;

/** Share of all slots in use: what is measured is the reap, and not the wait for a slot behind a backlog. */
const BUSY = 0.4;
const PER_BATCH = 10;

const REAPERS = ['reaper-1', 'reaper-2'] as const;

/** A bound against hanging. Milliseconds. */
const SCANNED_WITHIN_MS = 60_000;

const recoveredAllTheSame: Check = {
  name: 'recovered-without-a-quiet-reaper',
  promise: 'kill → next start: half of them within 1.5 × TTL, all within 3 × TTL + 10 s',
  find: ({ terms: { ttlMs } }, { recovery: { count, p50, max } }) => {
    if (count === 0) return ['nothing had to be recovered'];
    return [
      ...(p50! > 1.5 * ttlMs ? [`p50 is ${p50} ms`] : []),
      ...(max! > 3 * ttlMs + 10_000 ? [`the longest took ${max} ms`] : []),
    ];
  },
};

export const reaperKillStorm: Scenario = {
  name: 'reaper-kill-storm',
  number: 11,
  title: 'of two reapers one is killed with -9 as soon as the other has scanned, in turn, while workers die',
  checks: [recoveredAllTheSame],
  async act(stage) {
    const { site, options } = stage;
    const storm = killReapersInTurn(stage);
    const flow = stage.flow({ window: Math.ceil(BUSY * stage.slots), perBatch: PER_BATCH });
    const names = workerNames(options.workers);
    const dice = stage.dice('workers');
    for (let kill = 0; kill < stage.scaled(WORKER_KILLS, 6) && !stage.stop.aborted; kill += 1) {
      await stage.pause(options.ttlMs);
      const name = dice.pick(names);
      await site.services.get(name).kill();
      await site.launch('worker', name);
    }
    await flow.stop();
    // The last killed are to be reaped by reapers that die, too.
    await stage.pause(2 * options.ttlMs);
    stage.figures['kills of reapers'] = await storm.stop();
  },
};

function killReapersInTurn(stage: Stage): { stop(): Promise<number> } {
  let isOver = false;
  let kills = 0;
  const killing = (async (): Promise<void> => {
    for (let turn = 0; !isOver && !stage.stop.aborted; turn += 1) {
      const [dying, other] = turn % 2 === 0 ? REAPERS : ([...REAPERS].reverse() as [string, string]);
      await untilScanned(stage, other);
      await stage.site.services.get(dying).kill();
      kills += 1;
      stage.say(`${kills} reapers were killed`);
      await restart(stage.site, dying);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await killing;
      return kills;
    },
  };
}

/** Since its start: a reaper counts its scans from 0. */
async function untilScanned(stage: Stage, reaper: string): Promise<void> {
  const scans = (): Promise<number> => stage.site.services.get(reaper).metric('reaper_scans_total');
  await stage.until(async () => (await scans().catch(() => 0)) > 0, SCANNED_WITHIN_MS, 50);
}

function restart(site: Site, reaper: string): Promise<LiveProcess> {
  return site.launch('reaper', reaper);
}
