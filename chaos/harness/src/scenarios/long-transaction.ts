import { SqlProbe } from '@deadman/testing';
import { readHistory } from '../checks/history.js';
import { distribution } from '../checks/measures.js';
import type { Stage } from '../run/stage.js';
import type { Scenario } from './scenario.js';

/** How long the transaction stands idle, and how long the calm before is measured. Milliseconds; scaled. */
const IDLE_MS = 600_000;
const CALM_MS = 60_000;
const LEAST_MS = 20_000;

const RUN_MS = [50, 150] as const;

/** Share of all slots that are in use: no job has to wait for a free one. */
const BUSY = 0.25;
const PER_BATCH = 5;

/** A difference that is noise on a busy machine. Milliseconds. */
const NOISE_MS = 50;

export const longTransaction: Scenario = {
  name: 'long-transaction',
  number: 26,
  title: 'a transaction holds a snapshot for ten minutes, so that nothing that has died since is cleaned away',
  async act(stage) {
    const flow = stage.flow({ runMs: RUN_MS, window: Math.ceil(BUSY * stage.slots), perBatch: PER_BATCH });
    await stage.until(() => stage.watch.ended > stage.slots, LEAST_MS);
    const calmFromMs = Date.now();
    await stage.pause(stage.scaledMs(CALM_MS, LEAST_MS));
    const heldFromMs = Date.now();
    await holdSnapshot(stage);
    const heldToMs = Date.now();
    await flow.stop();

    const { starts } = await readHistory(stage.site.lives);
    const waits = (fromMs: number, toMs: number): ReturnType<typeof distribution> =>
      distribution(starts.flatMap(({ at, waitedMs }) => (at >= fromMs && at < toMs ? [waitedMs] : [])));
    const [calm, held] = [waits(calmFromMs, heldFromMs), waits(heldFromMs, heldToMs)];
    stage.figures['due → started, ms: calm'] = calm;
    stage.figures['due → started, ms: while the snapshot is held'] = held;
    const isFast = (held.p99 ?? Number.POSITIVE_INFINITY) <= 2 * (calm.p99 ?? 0) + NOISE_MS;
    stage.find(
      'claims-stay-fast',
      'the 99th percentile of due → started stays below twice the calm one',
      isFast ? [] : [`${held.p99} ms, calm ${calm.p99} ms`],
    );
  },
};

async function holdSnapshot(stage: Stage): Promise<void> {
  const holder = new SqlProbe(stage.site.urls.postgres);
  try {
    // One statement that keeps its snapshot: a probe has no transaction that outlives a question.
    const ms = stage.scaledMs(IDLE_MS, LEAST_MS);
    stage.say(`a snapshot is held for ${ms / 1_000} s`);
    await holder.rows('SELECT count(*), pg_sleep($1) FROM deadman.jobs', [ms / 1_000]);
  } finally {
    await holder.close();
  }
}
