import { workerNames, SURROUNDINGS } from './scenario.js';
import type { Scenario } from './scenario.js';
import { Supervisor } from '../storm/supervisor.js';

const HEALTHY = 500;

/** Before it kills its process. Milliseconds: long enough for neighbours to run beside it. */
const POISON_MS = 300;

/** Times that the job is run alone until its budget is used up, the waits before each, and the drains. Milliseconds. */
const QUARANTINES = 8;
const PER_QUARANTINE_MS = 120_000;

const POISONED = `
  SELECT j.state, j.crashes, (SELECT reason FROM deadman.attempts a WHERE a.job_id = j.id ORDER BY attempt DESC LIMIT 1)
  FROM deadman.jobs j WHERE type = 'chaos.poison'`;

const BLAMED = `
  SELECT count(*)::integer AS count FROM deadman.jobs
  WHERE type = 'chaos.fire' AND (state <> 'SUCCEEDED' OR failures <> 0 OR crashes <> 0)`;

export const poison: Scenario = {
  name: 'poison',
  number: 10,
  title: 'a job that kills its process each time, among 500 healthy ones',
  fleet: () => SURROUNDINGS,
  async act(stage) {
    const { site, options } = stage;
    const supervisor = new Supervisor(site);
    supervisor.keep('worker', workerNames(options.workers));
    await stage.submit({ jobs: 1, type: 'chaos.poison', runMs: [POISON_MS, POISON_MS] });
    await stage.submit({ jobs: stage.scaled(HEALTHY, 50) });
    stage.say('the poisoned job kills one worker after the other');
    await stage.until(() => stage.open <= 0, QUARANTINES * PER_QUARANTINE_MS, 500);
    supervisor.stop();
    const { state, reason, crashes } = await site.sql.row<{ state: string; reason: string; crashes: number }>(POISONED);
    stage.figures['the poisoned job'] = { state, reason, crashes };
    const isCrashLoop = state === 'DEAD' && reason === 'crash-loop';
    stage.find(
      'poison-is-dead',
      'the poisoned job ends DEAD as a crash loop',
      isCrashLoop ? [] : [`${state}, ${reason}`],
    );
    const { count } = await site.sql.row<{ count: number }>(BLAMED);
    stage.find(
      'neighbours-are-blameless',
      'all others succeed, with no failure and no crash of their own',
      count === 0 ? [] : [`${count} did not`],
    );
  },
};
