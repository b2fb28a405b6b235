import { eventually } from '@deadman/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { JobClient } from '../job-client.js';
import { Installation, START_LIMIT_MS, TEST_LIMIT_MS } from './installation.js';

/** Workers beat three times in it: the next beat, which would tell of a cancel as well, is minutes away. Milliseconds. */
const TTL_MS = 900_000;

/** How long a handler that ignores its signal is waited for. Milliseconds. */
const GRACE_MS = 2_000;

/** How soon after the request a run has to be over, besides what its handler takes. Milliseconds. */
const WITHIN_MS = 5_000;

interface EndRow {
  readonly outcome: string;
  /** How long after the cancel was asked for. Milliseconds. */
  readonly afterMs: number;
}

const END = `
  SELECT outcome, (extract(epoch FROM finished_at - $2) * 1000)::double precision AS "afterMs"
  FROM deadman.attempts WHERE job_id = $1`;

describe('a cancel of a job that runs', () => {
  let installation: Installation;

  beforeAll(async () => {
    const settings = { DEADMAN_LEASE_TTL_MS: String(TTL_MS), DEADMAN_CANCEL_GRACE_MS: String(GRACE_MS) };
    installation = await Installation.open('cancel', settings);
    // Without a reaper, which would end what overstays its grace: the worker has to learn of the cancel by itself.
    await installation.services.startAll({ apis: 2, reapers: 0, deadLetterConsumers: 0 });
  }, START_LIMIT_MS);

  afterAll(() => installation?.close(), START_LIMIT_MS);

  const untilBusySlots = (count: number): Promise<void> =>
    eventually(async () => expect(await installation.metric('worker', 'worker_slots_busy')).toBe(count), {
      withinMs: 60_000,
    });

  /** A job that came in at one api is cancelled at another while it runs. Tells how its only attempt ended. */
  async function cancelAt(api: string, type: string, payload: unknown): Promise<EndRow> {
    const { client, services, sql } = installation;
    const { id } = await client.submit(type, payload);
    // Its handler runs: a notice that overtakes the worker's own knowledge of a claim is left to the next beat.
    await untilBusySlots(1);
    const asked = await installation.now();
    await new JobClient(services.get(api).url, installation.queue).cancel(id);
    expect(await client.untilEnded(id)).toMatchObject({ state: 'cancelled', attempt: 1, failures: 0, lapses: 0 });
    await untilBusySlots(0);
    return sql.row<EndRow>(END, [id, asked]);
  }

  it.each(['api-1', 'api-2'])(
    'reaches its handler at once, from whichever api it comes: %s',
    async (api) => {
      const end = await cancelAt(api, 'demo.sleep', { ms: 86_400_000 });
      console.info(`cancelled at ${api}: over ${Math.round(end.afterMs)} ms later; beats are ${TTL_MS / 3} ms apart`);
      expect(end).toMatchObject({ outcome: 'cancelled' });
      expect(end.afterMs).toBeLessThanOrEqual(WITHIN_MS);
    },
    TEST_LIMIT_MS,
  );

  it(
    'ends the run of a handler that ignores its signal, too, once its grace is over, and its worker has the slot again',
    async () => {
      const end = await cancelAt('api-2', 'test.hang', null);
      console.info(`a handler that ignores its signal: over ${Math.round(end.afterMs)} ms after its cancel`);
      expect(end).toMatchObject({ outcome: 'cancelled' });
      expect(end.afterMs).toBeGreaterThanOrEqual(GRACE_MS);
      expect(end.afterMs).toBeLessThanOrEqual(GRACE_MS + WITHIN_MS);
    },
    TEST_LIMIT_MS,
  );
});
