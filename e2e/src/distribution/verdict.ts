import type { AttemptRecord } from '@deadman/domain';
import { duplicateRuns } from '@deadman/engine';
import type { SqlProbe } from '@deadman/testing';
import { eventually } from '@deadman/testing';

/** How a set of accepted jobs came through, by the database's history. */
export interface Verdict {
  readonly accepted: number;
  /** Accepted ids that are not SUCCEEDED. */
  readonly lost: number;
  /** Jobs with another number of successful attempts than one. */
  readonly doubled: number;
  readonly lapses: number;
  /** Runs that nobody had called for (`protocol.md` §2): the zeros beside it mean nothing otherwise. */
  readonly duplicateRuns: number;
}

interface HistoryRow extends Pick<AttemptRecord, 'startedAt' | 'outcome' | 'reclaimedBy' | 'reason'> {
  readonly jobId: string;
}

const HISTORY = `
  SELECT job_id AS "jobId", started_at AS "startedAt", outcome, reclaimed_by AS "reclaimedBy", reason
  FROM deadman.attempts WHERE job_id = ANY ($1::uuid[]) ORDER BY job_id, attempt`;

const UNFINISHED = `
  SELECT state, count(*)::integer AS count FROM deadman.jobs
  WHERE id = ANY ($1::uuid[]) AND state NOT IN ('SUCCEEDED', 'DEAD', 'CANCELLED') GROUP BY state`;

const SUCCEEDED = `SELECT count(*)::integer AS count FROM deadman.jobs WHERE id = ANY ($1::uuid[]) AND state = 'SUCCEEDED'`;

/** Waits until every one of these jobs has ended, one way or another. */
export function untilAllEnded(sql: SqlProbe, ids: readonly string[], withinMs = 120_000): Promise<void> {
  return eventually(
    async () => {
      const open = await sql.rows<{ state: string; count: number }>(UNFINISHED, [ids]);
      if (open.length > 0) throw new Error(`Some have not ended: ${JSON.stringify(open)}`);
    },
    { withinMs, everyMs: 100 },
  );
}

/** @param ids what the clients were told, never what the database says there is. */
export async function judgeJobs(sql: SqlProbe, ids: readonly string[]): Promise<Verdict> {
  const { count: succeeded } = await sql.row<{ count: number }>(SUCCEEDED, [ids]);
  const histories = new Map<string, HistoryRow[]>(ids.map((id) => [id, []]));
  for (const row of await sql.rows<HistoryRow>(HISTORY, [ids])) histories.get(row.jobId)!.push(row);
  let [doubled, lapses, duplicates] = [0, 0, 0];
  for (const attempts of histories.values()) {
    if (attempts.filter(({ outcome }) => outcome === 'succeeded').length !== 1) doubled += 1;
    lapses += attempts.filter(({ outcome }) => outcome === 'lapsed').length;
    duplicates += duplicateRuns(attempts as unknown as readonly AttemptRecord[]);
  }
  return { accepted: ids.length, lost: ids.length - succeeded, doubled, lapses, duplicateRuns: duplicates };
}

/** Every job once, without a lapse and without a run that nobody had called for. */
export const UNDISTURBED = { lost: 0, doubled: 0, lapses: 0, duplicateRuns: 0 } as const;
