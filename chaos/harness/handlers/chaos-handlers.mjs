/**
 * The jobs of the chaos runs. Their effects are counted outside every unique constraint: in a table without a key, and in
 * a file that belongs to nobody who is killed.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineJob } from '@deadman/sdk';

/** Shares of its time that a job spends before its effect, in its transaction and after it: kills meet runs in each. */
const [BEFORE, INSIDE, AFTER] = [0.55, 0.05, 0.4];

/**
 * Fires one effect. The file gets a line for what has been committed, and names the firing and not the run: a run that
 * finds the effect done reports it once more, and that is no second effect, whereas two firings of one job would be.
 */
export const fire = defineJob({
  type: 'chaos.fire',
  async run({ payload: { ms }, job, signal, transaction }) {
    await sleep(ms * BEFORE, undefined, { signal });
    const firing = await transaction('fire', async ({ query }) => {
      const id = randomUUID();
      await query('INSERT INTO chaos.ledger (job_id, attempt, firing) VALUES ($1, $2, $3)', [job.id, job.attempt, id]);
      await sleep(ms * INSIDE);
      return id;
    });
    appendFileSync(process.env.CHAOS_SINK, `${job.id} ${firing} ${job.attempt}\n`);
    await sleep(ms * AFTER, undefined, { signal });
    return { firing };
  },
});

/** Takes its process with it, every time. */
export const poison = defineJob({
  type: 'chaos.poison',
  async run({ payload: { ms } }) {
    await sleep(ms);
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => undefined);
  },
});

/** Fails, every time. */
export const fail = defineJob({
  type: 'chaos.fail',
  run() {
    throw new Error('This job always fails');
  },
});

/** Heeds no signal, and fails when it has run. */
export const stubborn = defineJob({
  type: 'chaos.stubborn',
  async run({ payload: { ms } }) {
    await sleep(ms);
    throw new Error('This job always fails');
  },
});
