import { setTimeout as sleep } from 'node:timers/promises';
import type { Handler } from '@deadman/domain';
import { defineJob } from '@deadman/sdk';
import { z } from 'zod';

/** Longest `demo.sleep`: a day. Well below the 2^31 ms at which Node's timers wrap round to nothing. */
const MAX_SLEEP_MS = 86_400_000;
const MAX_COUNTDOWN_SECONDS = 86_400;

/** Returns its payload. */
const echo = defineJob({ type: 'demo.echo', run: ({ payload }) => payload });

/** Sleeps for `ms` milliseconds and ends early when its signal is aborted. */
const sleeper = defineJob({
  type: 'demo.sleep',
  schema: z.strictObject({ ms: z.int().min(0).max(MAX_SLEEP_MS) }),
  async run({ payload, signal }) {
    await sleep(payload.ms, undefined, { signal });
    return { sleptMs: payload.ms };
  },
});

/**
 * Fails `times` attempts, then succeeds; always fails without `times`. Counts by the job's failures, not by its
 * attempts, so that a killed worker does not use one up.
 */
const failing = defineJob({
  type: 'demo.fail',
  schema: z.strictObject({ times: z.int().min(0).optional() }),
  run({ payload, job }) {
    const times = payload.times ?? Infinity;
    if (job.failures < times) {
      throw new Error(`demo.fail: failure ${job.failures + 1} of ${payload.times ?? 'as many as it is run'}`);
    }
    return { failures: job.failures };
  },
});

/** Counts down from `from`, a second a step, and shows what is left as its progress. */
const countdown = defineJob({
  type: 'demo.countdown',
  schema: z.strictObject({ from: z.int().min(0).max(MAX_COUNTDOWN_SECONDS) }),
  async run(context) {
    const { from } = context.payload;
    for (let left = from; left > 0; left -= 1) {
      context.progress({ left });
      await sleep(1_000, undefined, { signal: context.signal });
    }
    context.progress({ left: 0 });
    return { countedFrom: from };
  },
});

/** The handlers that every worker has, to try Deadman out with. */
export const DEMO_HANDLERS: readonly Handler[] = [echo, sleeper, failing, countdown];
