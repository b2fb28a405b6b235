import type { SqlProbe } from '@deadman/testing';
import { existsSync, readFileSync } from 'node:fs';
import type { Refusal } from '../load/client.js';
import type { Site } from '../run/site.js';
import type { AttemptRow, Evidence, Firings, JobRow, Terms } from './evidence.js';
import { readHistory } from './history.js';

const JOBS = `
  SELECT id, state, attempt, failures, lapses, crashes, snoozes, max_attempts AS "maxAttempts" FROM deadman.jobs`;

const ATTEMPTS = `
  SELECT job_id AS "jobId", attempt, claim_token AS token, worker_id AS "workerId", outcome, reason,
    reclaimed_by AS "reclaimedBy", started_at AS "startedAt",
    (extract(epoch FROM claimed_at) * 1000)::float8 AS "claimedAtMs",
    (extract(epoch FROM finished_at) * 1000)::float8 AS "finishedAtMs"
  FROM deadman.attempts ORDER BY job_id, attempt`;

const LEDGER = `SELECT job_id AS "jobId", firing FROM chaos.ledger`;

const LETTERS = `SELECT job_id || ' ' || attempt AS letter FROM deadman.dead_letters`;

/** What has to be told still. */
export const OUTBOX = `SELECT count(*)::integer AS count FROM deadman.outbox`;

const OVERDUE = `
  SELECT count(*)::integer AS count FROM deadman.jobs
  WHERE state = 'PENDING' OR (state IN ('SCHEDULED', 'FAILED') AND scheduled_for < clock_timestamp())`;

/** What the clients and the runner know, which stands in no database. */
export interface Testimony {
  readonly terms: Terms;
  readonly accepted: readonly string[];
  readonly refusals: readonly Refusal[];
  readonly ending: Evidence['ending'];
}

/** Reads everything that a run left behind. */
export async function gatherEvidence({ sql, sinkFile, lives }: Site, testimony: Testimony): Promise<Evidence> {
  const jobs = await sql.rows<JobRow>(JOBS);
  const attempts = new Map<string, AttemptRow[]>();
  for (const row of await sql.rows<AttemptRow>(ATTEMPTS)) append(attempts, row.jobId, row);
  const letters = await sql.rows<{ letter: string }>(LETTERS);
  return {
    ...testimony,
    jobs: new Map(jobs.map((job) => [job.id, job])),
    attempts,
    ledger: await readLedger(sql),
    sink: readSink(sinkFile),
    history: await readHistory(lives),
    lives: [...lives],
    letters: letters.map(({ letter }) => letter),
    left: { outbox: await countOf(sql, OUTBOX), overdue: await countOf(sql, OVERDUE) },
  };
}

async function readLedger(sql: SqlProbe): Promise<Firings> {
  const firings = new Map<string, string[]>();
  for (const { jobId, firing } of await sql.rows<{ jobId: string; firing: string }>(LEDGER)) {
    append(firings, jobId, firing);
  }
  return firings;
}

/** A line is `job firing attempt`. */
function readSink(file: string): Firings {
  const firings = new Map<string, string[]>();
  if (!existsSync(file)) return firings;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [jobId, firing] = line.split(' ');
    if (jobId !== undefined && firing !== undefined) append(firings, jobId, firing);
  }
  return firings;
}

async function countOf(sql: SqlProbe, text: string): Promise<number> {
  return (await sql.row<{ count: number }>(text)).count;
}

function append<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}
