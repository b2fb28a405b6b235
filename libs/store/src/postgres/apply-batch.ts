import type {
  ApplyReceipt,
  ApplyResult,
  Applied,
  Decision,
  JobState,
  OutboxEntry,
  Transition,
  Verdict,
} from '@deadman/domain';
import { isOwnEnd } from '../own-end.js';
import { toArrayLiteral, toTimestamp } from './array-literal.js';
import type { Scalar } from './array-literal.js';
import type { PostgresDatabase, Values } from './postgres-database.js';
import type { AttemptRow } from './rows.js';
import { statement } from './statement.js';
import { toDelayMs, toInstant } from './submit-batch.js';

const APPLY = statement('apply');
const FIND_ENDS = statement('find-ends');
const LOCK_FREE_JOBS = statement('lock-free-jobs');

type ApplyRow =
  | { readonly kind: 'job'; readonly place: string; readonly state: JobState; readonly decided_by: Applied['by'] }
  | { readonly kind: 'ticket'; readonly outbox_id: string; readonly queue: string; readonly job_ids: string[] }
  | { readonly kind: 'death'; readonly outbox_id: string; readonly job_id: string; readonly attempt: number }
  | { readonly kind: 'notice' };

type EndRow = Pick<AttemptRow, 'job_id' | 'attempt' | 'claim_token' | 'outcome' | 'reason' | 'reclaimed_by'>;

/** Writes a batch, and then reads what had become of those transitions whose fence failed. */
export async function applyBatch(
  db: PostgresDatabase,
  batch: readonly Transition[],
  skipLocked: boolean,
): Promise<ApplyReceipt> {
  const { results, outbox } = skipLocked ? await writeFree(db, batch) : await write(db, batch);
  const refused = batch.filter((transition) => !results.has(transition) && transition.fence.by === 'claim');
  const own = await findOwnEnds(db, refused);
  const resultOf = (transition: Transition): ApplyResult =>
    results.get(transition) ?? { kind: own.has(transition) ? 'already' : 'fenced' };
  return { results: batch.map(resultOf), outbox };
}

interface Written {
  readonly results: ReadonlyMap<Transition, Applied>;
  readonly outbox: readonly OutboxEntry[];
}

async function write(db: PostgresDatabase, batch: readonly Transition[]): Promise<Written> {
  return toWritten(batch, await db.write<ApplyRow>(APPLY, toValues(batch)));
}

/** Locks what nobody holds, and writes that in the same transaction. */
function writeFree(db: PostgresDatabase, batch: readonly Transition[]): Promise<Written> {
  return db.transaction(async (run) => {
    const ids = toArrayLiteral(batch.map(({ jobId }) => jobId));
    const locked = new Set((await run<{ id: string }>(LOCK_FREE_JOBS, [ids])).map(({ id }) => id));
    const free = batch.filter(({ jobId }) => locked.has(jobId));
    return toWritten(free, free.length === 0 ? [] : await run<ApplyRow>(APPLY, toValues(free)));
  });
}

function toWritten(batch: readonly Transition[], rows: readonly ApplyRow[]): Written {
  const results = new Map<Transition, Applied>();
  const outbox: OutboxEntry[] = [];
  for (const row of rows) {
    if (row.kind === 'job') {
      results.set(batch[Number(row.place) - 1]!, { kind: 'applied', state: row.state, by: row.decided_by });
    } else if (row.kind === 'ticket') {
      outbox.push({ id: row.outbox_id, kind: 'ready', queue: row.queue, jobIds: row.job_ids });
    } else if (row.kind === 'death') {
      outbox.push({ id: row.outbox_id, kind: 'dead', jobId: row.job_id, attempt: row.attempt });
    }
  }
  return { results, outbox };
}

/** Those transitions that an earlier try of theirs had already written. */
async function findOwnEnds(db: PostgresDatabase, refused: readonly Transition[]): Promise<ReadonlySet<Transition>> {
  if (refused.length === 0) return new Set();
  const claims = refused.map(({ jobId, fence }) => ({ jobId, ...toFence(fence) }));
  const rows = await db.read<EndRow>(FIND_ENDS, [
    toArrayLiteral(claims.map(({ jobId }) => jobId)),
    toArrayLiteral(claims.map(({ attempt }) => attempt)),
    toArrayLiteral(claims.map(({ token }) => token)),
  ]);
  const byJob = new Map(rows.map((row) => [row.job_id, row]));
  return new Set(
    refused.filter((transition) => {
      const row = byJob.get(transition.jobId);
      return row !== undefined && isOwnEnd(transition, toEnd(row));
    }),
  );
}

function toEnd(row: EndRow): Parameters<typeof isOwnEnd>[1] {
  const { attempt, outcome, reason, claim_token: claimToken, reclaimed_by: reclaimedBy } = row;
  return { attempt, outcome, reason, claimToken, reclaimedBy };
}

function toFence(fence: Transition['fence']): { version: number | null; attempt: number | null; token: string | null } {
  return {
    version: fence.by === 'version' ? fence.version : null,
    attempt: fence.by === 'claim' ? fence.attempt : null,
    token: fence.by === 'claim' ? fence.token : null,
  };
}

function toValues(batch: readonly Transition[]): Values {
  const fences = batch.map(({ fence }) => toFence(fence));
  const decisions = batch.map(({ decision }) => toColumns(decision));
  const column = (name: keyof Columns): string => toArrayLiteral(decisions.map((columns) => columns[name]));
  return [
    toArrayLiteral(batch.map(({ jobId }) => jobId)),
    toArrayLiteral(fences.map(({ version }) => version)),
    toArrayLiteral(fences.map(({ attempt }) => attempt)),
    toArrayLiteral(fences.map(({ token }) => token)),
    toArrayLiteral(batch.map(({ effects }) => (effects.length === 0 ? null : JSON.stringify(effects)))),
    ...COLUMNS.map(column),
    toArrayLiteral(batch.map(({ underCancel }) => toJson(underCancel))),
    toArrayLiteral(batch.map(({ withoutEffects }) => toJson(withoutEffects?.decision))),
    toArrayLiteral(batch.map(({ withoutEffects }) => toJson(withoutEffects?.underCancel))),
  ];
}

/** The columns of a decision, in the order of the statement's parameters. */
const COLUMNS = [
  'state',
  'due_after_ms',
  'due_at',
  'failures',
  'lapses',
  'lapses_in_row',
  'crashes',
  'snoozes',
  'result',
  'last_error',
  'cancel_request',
  'outcome',
  'error',
  'reason',
  'reclaimed_by',
  'started_after_ms',
] as const;

type Columns = Readonly<Record<(typeof COLUMNS)[number], Scalar>>;

function toColumns(decision: Decision): Columns {
  const { ends } = decision;
  const instant = toInstant(decision.due);
  return {
    state: decision.state,
    due_after_ms: toDelayMs(decision.due),
    due_at: instant && toTimestamp(instant),
    failures: decision.failures,
    lapses: decision.lapses,
    lapses_in_row: decision.lapsesInRow,
    crashes: decision.crashes,
    snoozes: decision.snoozes,
    result: decision.result,
    last_error: toLastError(decision.lastError),
    cancel_request: decision.cancelRequest,
    outcome: ends && ends.outcome,
    error: ends && ends.error && JSON.stringify(ends.error),
    reason: ends && ends.reason,
    reclaimed_by: ends && ends.reclaimedBy,
    started_after_ms: ends && ends.startedAfterMs,
  };
}

/** NULL keeps the error, JSON null clears it. */
function toLastError(lastError: Decision['lastError']): string | null {
  if (lastError === 'keep') return null;
  return lastError === 'clear' ? 'null' : JSON.stringify(lastError);
}

function toJson(decision: Verdict['underCancel'] | undefined): string | null {
  return decision ? JSON.stringify(toColumns(decision)) : null;
}
