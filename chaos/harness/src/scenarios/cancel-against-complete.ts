import type { JobState } from '@deadman/domain';
import type { Stage } from '../run/stage.js';
import type { Scenario } from './scenario.js';

const PAIRS = 10_000;

/** Pairs that are under way at once. */
const CROWD = 100;

/** Runs, and the time from a job's acceptance to its cancel: of the same size, so that they meet. Milliseconds. */
const RUN_MS = [20, 400] as const;
const CANCEL_AFTER_MS = 500;

const ENDED_WITHIN_MS = 300_000;

/** What the answer to a cancel says of how the job ends (faults.md, scenario 29). */
const MEANS: Readonly<Record<number, readonly JobState[]>> = {
  200: ['CANCELLED'],
  202: ['CANCELLED', 'SUCCEEDED'],
  409: ['SUCCEEDED', 'DEAD'],
};

/** One crowd in so many consists of jobs that heed no cancel, and fail: a failure must not forget the cancel. */
const STUBBORN_EVERY = 4;
const STUBBORN = { type: 'chaos.stubborn', more: { maxAttempts: 2, retry: { kind: 'fixed', baseSeconds: 1 } } };

const STATES = `SELECT id, state FROM deadman.jobs`;

/** By the database's clock, which stamped both. */
const RUN_AGAIN = `
  SELECT j.id, a.attempt FROM deadman.jobs j JOIN deadman.attempts a ON a.job_id = j.id
  WHERE a.claimed_at > j.cancel_requested_at`;

export const cancelAgainstComplete: Scenario = {
  name: 'cancel-against-complete',
  number: 29,
  title: 'ten thousand jobs are cancelled at about the moment at which they complete',
  async act(stage) {
    const dice = stage.dice('cancels');
    const answers = new Map<string, number>();
    const pairs = stage.scaled(PAIRS, 500);
    for (let crowds = 1; answers.size < pairs && !stage.stop.aborted; crowds += 1) {
      stage.say(`${answers.size} of ${pairs} pairs`);
      const known = stage.ledger.accepted.length;
      const kind = crowds % STUBBORN_EVERY === 0 ? STUBBORN : {};
      await stage.submit({ jobs: CROWD, runMs: RUN_MS, ...kind });
      const crowd = stage.ledger.accepted.slice(known);
      await Promise.all(crowd.map((id) => cancel(stage, id, dice.integer(0, CANCEL_AFTER_MS), answers)));
    }
    await stage.until(() => stage.open <= 0, ENDED_WITHIN_MS);
    await judgeAnswers(stage, answers);
  },
};

async function cancel(stage: Stage, id: string, afterMs: number, answers: Map<string, number>): Promise<void> {
  await stage.pause(afterMs);
  const answer = await stage.client.send('DELETE', `/jobs/${id}`);
  await answer?.arrayBuffer();
  answers.set(id, answer?.status ?? 0);
}

async function judgeAnswers(stage: Stage, answers: ReadonlyMap<string, number>): Promise<void> {
  const rows = await stage.site.sql.rows<{ id: string; state: JobState }>(STATES);
  const states = new Map(rows.map(({ id, state }) => [id, state]));
  const counts: Record<string, number> = {};
  const breaches = [...answers].flatMap(([id, status]) => {
    const state = states.get(id)!;
    counts[`${status} ${state}`] = (counts[`${status} ${state}`] ?? 0) + 1;
    return MEANS[status]?.includes(state) === true ? [] : [`${id}: the answer was ${status}, and it is ${state}`];
  });
  stage.figures['answers, and what became of the jobs'] = counts;
  stage.find(
    'cancel-means-what-it-says',
    '200 ⇒ CANCELLED, 202 ⇒ CANCELLED or SUCCEEDED, 409 ⇒ it had ended',
    breaches,
  );
  const again = await stage.site.sql.rows<{ id: string; attempt: number }>(RUN_AGAIN);
  stage.find(
    'cancelled-runs-never-again',
    'no attempt begins after a cancel was asked for',
    again.map(({ id, attempt }) => `${id}, attempt ${attempt}`),
  );
  const met = [200, 202, 409].filter((status) => [...answers.values()].includes(status));
  stage.find('all-answers-were-met', 'the race went every way', met.length === 3 ? [] : [`only ${met.join()}`]);
}
