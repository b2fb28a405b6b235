import { DeadmanError, NO_COUNTS } from '@deadman/domain';
import type {
  Due,
  Job,
  JobState,
  OutboxEntry,
  RetryPolicy,
  Submission,
  Submitted,
  SubmitReceipt,
} from '@deadman/domain';
import { toArrayLiteral } from './array-literal.js';
import type { PostgresDatabase, Run, Values } from './postgres-database.js';
import { toJob } from './rows.js';
import type { JobRow } from './rows.js';
import { statement } from './statement.js';

const SUBMIT = statement('submit');
const FIND_JOBS = statement('find-jobs');
const FIND_KEY_HOLDERS = statement('find-key-holders');

/** A key that expires between the insert and the look at its holder makes its submission new; twice in a row is no chance. */
const TRIES = 3;

interface CreatedRow {
  readonly kind: 'job';
  readonly id: string;
  readonly created_at: Date;
  readonly scheduled_for: Date;
  readonly state: JobState;
}

type SubmitRow =
  CreatedRow | { readonly kind: 'ticket'; readonly id: string; readonly queue: string } | { readonly kind: 'notice' };

type HolderRow = JobRow & { readonly held_key: string; readonly fingerprint: Readonly<Record<string, string>> };

/** Answers found so far, by submission. */
type Answers = Map<Submission, Submitted>;

/**
 * One statement stores what is new. Whoever was not new is looked up afterwards, with a snapshot that sees what the insert
 * waited for.
 */
export async function submitBatch(
  db: PostgresDatabase,
  batch: readonly Submission[],
  dueNoticeMs: number,
): Promise<SubmitReceipt> {
  const answers: Answers = new Map();
  const outbox: OutboxEntry[] = [];
  for (let tried = 0; tried < TRIES && answers.size < new Set(batch).size; tried += 1) {
    const rest = batch.filter((submission) => !answers.has(submission));
    await tellHonestly(answers, async () => {
      outbox.push(...(await insert(db, rest, dueNoticeMs, answers)));
    });
    await tellHonestly(answers, () =>
      lookUp(
        db,
        rest.filter((submission) => !answers.has(submission)),
        answers,
      ),
    );
  }
  return { results: batch.map((submission) => answers.get(submission) ?? giveUp()), outbox };
}

/** Once something was stored, an error that says "nothing was changed" would be a lie. */
async function tellHonestly(answers: Answers, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (cause) {
    throw answers.size === 0 ? cause : new DeadmanError('unknown-outcome', undefined, { cause });
  }
}

function giveUp(): never {
  throw new DeadmanError('unknown-outcome', 'An idempotency key is neither free nor held');
}

async function insert(
  db: PostgresDatabase,
  batch: readonly Submission[],
  dueNoticeMs: number,
  answers: Answers,
): Promise<OutboxEntry[]> {
  const rows = await db.write<SubmitRow>(SUBMIT, toValues(batch, dueNoticeMs));
  const created = createdOf(rows);
  for (const submission of batch) {
    const row = created.get(submission.job.id);
    if (row !== undefined) answers.set(submission, { kind: 'created', job: toNewJob(submission, row) });
  }
  return toOutbox(rows, batch, created);
}

/**
 * Inserts new jobs without keys as a part of somebody's transaction, and returns what is to be sent once that has
 * committed.
 */
export async function insertJobs(
  run: Run,
  batch: readonly Submission[],
  dueNoticeMs: number,
): Promise<readonly OutboxEntry[]> {
  const rows = await run<SubmitRow>(SUBMIT, toValues(batch, dueNoticeMs));
  return toOutbox(rows, batch, createdOf(rows));
}

function createdOf(rows: readonly SubmitRow[]): ReadonlyMap<string, CreatedRow> {
  const created = new Map<string, CreatedRow>();
  for (const row of rows) if (row.kind === 'job') created.set(row.id, row);
  return created;
}

/**
 * A ticket names all new jobs of its queue that are ready, in the order of their ids. They are known here, and an array of
 * them would be most of what the database has to say.
 */
function toOutbox(
  rows: readonly SubmitRow[],
  batch: readonly Submission[],
  created: ReadonlyMap<string, CreatedRow>,
): OutboxEntry[] {
  return rows.flatMap((row) => {
    if (row.kind !== 'ticket') return [];
    const ready = batch.filter(({ job }) => job.queue === row.queue && created.get(job.id)?.state === 'PENDING');
    const jobIds = [...new Set(ready.map(({ job }) => job.id))].toSorted();
    return [{ id: row.id, kind: 'ready' as const, queue: row.queue, jobIds }];
  });
}

/** What the database added to a new job; the rest is as it was handed in. */
function toNewJob({ job }: Submission, row: CreatedRow): Job {
  return {
    ...job,
    ...NO_COUNTS,
    state: row.state,
    version: 1,
    attempt: 0,
    result: null,
    createdAt: row.created_at,
    scheduledFor: row.scheduled_for,
    startedAt: null,
    finishedAt: null,
    cancelRequestedAt: null,
    lastError: null,
    claim: null,
  };
}

async function lookUp(db: PostgresDatabase, batch: readonly Submission[], answers: Answers): Promise<void> {
  if (batch.length === 0) return;
  const keys = batch.flatMap(({ job }) => job.idempotencyKey ?? []);
  const keyless = batch.flatMap(({ job }) => (job.idempotencyKey === null ? [job.id] : []));
  const holders = keys.length === 0 ? [] : await db.read<HolderRow>(FIND_KEY_HOLDERS, [toArrayLiteral(keys)]);
  const stored = keyless.length === 0 ? [] : await db.read<JobRow>(FIND_JOBS, [toArrayLiteral(keyless)]);
  const byKey = new Map(holders.map((row) => [row.held_key, row]));
  const byId = new Map(stored.map((row) => [row.id, row]));
  for (const submission of batch) {
    const { id, idempotencyKey: key } = submission.job;
    const holder = key === null ? undefined : byKey.get(key);
    const own = holder?.id === id ? holder : byId.get(id);
    if (own !== undefined) answers.set(submission, { kind: 'created', job: toJob(own) });
    else if (holder !== undefined) {
      answers.set(submission, { kind: 'replayed', job: toJob(holder), fingerprint: holder.fingerprint });
    }
  }
}

function toValues(batch: readonly Submission[], dueNoticeMs: number): Values {
  const jobs = batch.map(({ job }) => job);
  const dues = batch.map(({ transition }) => transition.decision.due);
  return [
    toArrayLiteral(jobs.map(({ id }) => id)),
    toArrayLiteral(jobs.map(({ type }) => type)),
    toArrayLiteral(jobs.map(({ queue }) => queue)),
    toArrayLiteral(jobs.map(({ payload }) => payload)),
    toArrayLiteral(jobs.map(({ maxAttempts }) => maxAttempts)),
    toArrayLiteral(jobs.map(({ retry }) => retryText(retry))),
    toArrayLiteral(jobs.map(({ timeoutMs }) => timeoutMs)),
    toArrayLiteral(jobs.map(({ tags }) => toArrayLiteral(tags))),
    toArrayLiteral(jobs.map(({ idempotencyKey }) => idempotencyKey)),
    toArrayLiteral(batch.map(({ fingerprint }) => fingerprint && JSON.stringify(fingerprint))),
    toArrayLiteral(jobs.map(({ traceparent }) => traceparent)),
    toArrayLiteral(dues.map(toDelayMs)),
    toArrayLiteral(dues.map(toInstant)),
    dueNoticeMs,
  ];
}

const retryTexts = new WeakMap<RetryPolicy, string>();

/** Most jobs of a process share the object of the default policy. */
function retryText(policy: RetryPolicy): string {
  const known = retryTexts.get(policy);
  if (known !== undefined) return known;
  const text = JSON.stringify(policy);
  retryTexts.set(policy, text);
  return text;
}

/** The delay to add to the database's clock, or null when there is none to add. */
export function toDelayMs(due: Due | 'keep'): number | null {
  if (due === 'keep' || due.kind === 'at') return null;
  return due.kind === 'now' ? 0 : due.delayMs;
}

export function toInstant(due: Due | 'keep'): Date | null {
  return due !== 'keep' && due.kind === 'at' ? due.at : null;
}
