import type { ServiceName } from '@deadman/services';
import { existsSync } from 'node:fs';
import type { Stage } from '../run/stage.js';
import { nothingTwice } from './rebalance-churn.js';
import { workerNames } from './scenario.js';
import type { Scenario } from './scenario.js';

/** Debian's libfaketime, the variant for programs with threads. */
const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

const JOBS = 2_000;
const DELAYED = 100;

/** Share of all slots that the others keep busy, so that what comes due finds a free one. */
const BUSY = 0.25;

/** When the delayed jobs are due. Seconds. */
const DELAY_SECONDS = 8;

/** Nothing starts earlier than its time, or later by more (faults.md, scenario 27). Milliseconds. */
const LATE_MS = 2_000;

const SKEWED: readonly (readonly [ServiceName, string, string])[] = [
  ['api', 'api-1', '+300s'],
  ['reaper', 'reaper-1', '-300s'],
  ['reaper', 'reaper-2', '+300s'],
];

/** By the database's own clock: what is due is what it says, and a claim is stamped by it. */
const OFF = `
  SELECT min(extract(epoch FROM a.claimed_at - j.scheduled_for) * 1000)::float8 AS "earliestMs",
    max(extract(epoch FROM a.claimed_at - j.scheduled_for) * 1000)::float8 AS "latestMs"
  FROM deadman.jobs j JOIN deadman.attempts a ON a.job_id = j.id AND a.attempt = 1
  WHERE 'delayed' = ANY (j.tags)`;

export const clockSkew: Scenario = {
  name: 'clock-skew',
  number: 27,
  title: 'the clocks of api, reapers and workers are five minutes fast or slow, each in its own way',
  fleet: () => [['dead-letter-consumer', 'dead-letter-consumer-1']],
  checks: [nothingTwice],
  async act(stage) {
    if (!existsSync(LIBRARY)) throw new Error(`It needs ${LIBRARY}: apt-get install libfaketime`);
    const workers = workerNames(stage.options.workers).map(
      (name, index) => ['worker', name, index % 2 === 0 ? '+300s' : '-300s'] as const,
    );
    for (const [service, instance, offset] of [...SKEWED, ...workers])
      await startSkewed(stage, service, instance, offset);
    const more = { delaySeconds: DELAY_SECONDS, tags: ['delayed'] };
    const delayed = stage.scaled(DELAYED, 50);
    await stage.submit({ jobs: delayed, more });
    await stage.submit({ jobs: stage.scaled(JOBS, 300), window: delayed + Math.ceil(BUSY * stage.slots) });
    await stage.until(() => stage.open <= 0, 300_000);

    const { earliestMs, latestMs } = await stage.site.sql.row<{ earliestMs: number; latestMs: number }>(OFF);
    stage.figures['claimed after its time, ms: earliest, latest'] = [earliestMs, latestMs];
    stage.find('nothing-early-or-late', `every delayed job is claimed at its time, and at most ${LATE_MS} ms later`, [
      ...(earliestMs < 0 ? [`one was claimed ${-earliestMs} ms early`] : []),
      ...(latestMs > LATE_MS ? [`one was claimed ${latestMs} ms late`] : []),
    ]);
  },
};

/** The monotonic clock is left alone: no real one jumps. */
async function startSkewed(stage: Stage, service: ServiceName, instance: string, offset: string): Promise<void> {
  await stage.site.start(service, instance, {
    LD_PRELOAD: LIBRARY,
    FAKETIME: offset,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  });
}
