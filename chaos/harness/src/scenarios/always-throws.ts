import type { Scenario } from './scenario.js';

const JOBS = 500;
const MAX_ATTEMPTS = 3;

/** Short, so that nobody waits for the usual curve. Seconds. */
const RETRY = { kind: 'fixed', baseSeconds: 1 };

const ENDED_WITHIN_MS = 300_000;

/** Jobs that did not run exactly as often as they may, or whose end is not told as what it is. */
const ODD = `
  SELECT j.id, j.state, j.failures, count(a.attempt)::integer AS attempts
  FROM deadman.jobs j LEFT JOIN deadman.attempts a ON a.job_id = j.id AND a.outcome = 'failed'
  WHERE j.type = 'chaos.fail' GROUP BY j.id
  HAVING j.state <> 'DEAD' OR j.failures <> $1 OR count(a.attempt) <> $1`;

export const alwaysThrows: Scenario = {
  name: 'always-throws',
  number: null,
  title: 'a handler that throws each time',
  async act(stage) {
    const more = { maxAttempts: MAX_ATTEMPTS, retry: RETRY };
    await stage.submit({ jobs: stage.scaled(JOBS, 50), type: 'chaos.fail', more });
    await stage.until(() => stage.open <= 0, ENDED_WITHIN_MS);
    const odd = await stage.site.sql.rows<{ id: string; state: string }>(ODD, [MAX_ATTEMPTS]);
    stage.find(
      'retried-and-then-dead',
      `each runs ${MAX_ATTEMPTS} times, and is DEAD then, with its whole history`,
      odd.map((row) => JSON.stringify(row)),
    );
  },
};
