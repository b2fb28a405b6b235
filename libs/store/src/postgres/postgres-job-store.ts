import { JOB_STATES, JobStore, TERMINAL_STATES } from '@deadman/domain';
import type {
  ApplyReceipt,
  AttemptRecord,
  ClaimedJob,
  DeadLetter,
  DeadLetterQuery,
  DeathNotice,
  DueJob,
  IdleClaim,
  Job,
  JobFilter,
  JobQuery,
  JobState,
  JobView,
  OutboxEntry,
  OutboxQuery,
  Page,
  Position,
  ProgressUpdate,
  PromoteReceipt,
  PurgeRequest,
  QueueStats,
  RecordedDeadLetter,
  Submission,
  SubmitReceipt,
  Suspect,
  SuspectQuery,
  TicketClaim,
  Transition,
} from '@deadman/domain';
import { checkProgress, checkSubmissions, checkTransitions } from '../batch-rules.js';
import { DUE_NOTICE_MS } from '../due-notice.js';
import { applyBatch } from './apply-batch.js';
import { toArrayLiteral } from './array-literal.js';
import { AFTER_ALL, BEFORE_ALL, driverOf, toNames, toPlace, toRange } from './list-bounds.js';
import type { PostgresDatabase } from './postgres-database.js';
import { toAttempt, toClaimedJob, toDeadLetter, toJob, toJobView, toOutboxEntry } from './rows.js';
import type { AttemptRow, DeadLetterRow, JobRow, JobViewRow, OutboxRow } from './rows.js';
import { statement } from './statement.js';
import { submitBatch } from './submit-batch.js';

const CLAIM = statement('claim');
const CLAIM_IDLE = statement('claim-idle');
const DELETE_OUTBOX = statement('delete-outbox');
const FIND_CLAIMED = statement('find-claimed');
const FIND_DEAD_LETTER = statement('find-dead-letter');
const FIND_DUE_SOON = statement('find-due-soon');
const FIND_JOB = statement('find-job');
const FIND_JOBS = statement('find-jobs');
const FIND_LETTERS_OF_DEATHS = statement('find-letters-of-deaths');
const FIND_SUSPECTS = statement('find-suspects');
const LIST_ATTEMPTS = statement('list-attempts');
const LIST_DEAD_LETTERS = statement('list-dead-letters');
const MARK_SCAN = statement('mark-scan');
const OUTBOX_AGE = statement('outbox-age');
const PING = statement('ping');
const PROMOTE_DUE = statement('promote-due');
const PURGE_JOBS = statement('purge-jobs');
const PURGE_KEYS = statement('purge-keys');
const PURGE_WORKERS = statement('purge-workers');
const QUEUE_STATS = statement('queue-stats');
const RECORD_DEAD_LETTERS = statement('record-dead-letters');
const SAVE_PROGRESS = statement('save-progress');
const TAKE_OUTBOX = statement('take-outbox');

const LIST_JOBS = {
  tag: statement('list-jobs-by-tag'),
  type: statement('list-jobs-by-type'),
  queue: statement('list-jobs-by-queue'),
};

const COUNT_JOBS = {
  tag: statement('count-jobs-by-tag'),
  type: statement('count-jobs-by-type'),
  queue: statement('count-jobs-by-queue'),
};

const OPEN_STATES = JOB_STATES.filter((state) => !(TERMINAL_STATES as readonly JobState[]).includes(state));

/**
 * Jobs in PostgreSQL. What each statement relies on, and why it is safe beside all others, stands at its head in
 * `statements/`; here is what goes in and what comes out.
 */
export class PostgresJobStore extends JobStore {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    super();
    this.#db = db;
  }

  override async submit(batch: readonly Submission[]): Promise<SubmitReceipt> {
    checkSubmissions(batch);
    return submitBatch(this.#db, batch, DUE_NOTICE_MS);
  }

  override async findJobs(ids: readonly string[]): Promise<readonly Job[]> {
    return (await this.#db.read<JobRow>(FIND_JOBS, [toArrayLiteral(ids)])).map(toJob);
  }

  override async claim({ ids, token, workerId, types, quarantineFrom }: TicketClaim): Promise<readonly ClaimedJob[]> {
    const values = [toArrayLiteral(ids), token, workerId, toArrayLiteral(types), quarantineFrom];
    return (await this.#db.write<JobRow>(CLAIM, values)).map(toClaimedJob);
  }

  override async claimIdle(request: IdleClaim): Promise<readonly ClaimedJob[]> {
    const { token, workerId, types, queues, limit, minAgeMs, alone, quarantineFrom } = request;
    const names = [toArrayLiteral(types), toArrayLiteral([...new Set(queues)])];
    const values = [token, workerId, ...names, limit, minAgeMs, alone, quarantineFrom];
    return (await this.#db.write<JobRow>(CLAIM_IDLE, values)).map(toClaimedJob);
  }

  override async findClaimed(token: string): Promise<readonly ClaimedJob[]> {
    return (await this.#db.read<JobRow>(FIND_CLAIMED, [token])).map(toClaimedJob);
  }

  override async apply(
    batch: readonly Transition[],
    options: { readonly skipLocked?: boolean } = {},
  ): Promise<ApplyReceipt> {
    checkTransitions(batch);
    if (batch.length === 0) return { results: [], outbox: [] };
    return applyBatch(this.#db, batch, options.skipLocked ?? false);
  }

  override async promoteDue({
    limit,
    ids,
  }: {
    readonly limit: number;
    readonly ids?: readonly string[];
  }): Promise<PromoteReceipt> {
    type Row = { id: string; queue: string; job_ids: string[]; promoted: number; max_delay_ms: number };
    const rows = await this.#db.write<Row>(PROMOTE_DUE, [limit, ids === undefined ? null : toArrayLiteral(ids)]);
    const [first] = rows;
    return {
      promoted: first?.promoted ?? 0,
      maxDelayMs: Math.max(0, Math.round(first?.max_delay_ms ?? 0)),
      outbox: rows.map(({ id, queue, job_ids }) => ({ id, kind: 'ready', queue, jobIds: job_ids })),
    };
  }

  override async findDueSoon(request: {
    readonly withinMs: number;
    readonly limit: number;
  }): Promise<readonly DueJob[]> {
    type Row = { id: string; in_ms: number };
    const rows = await this.#db.read<Row>(FIND_DUE_SOON, [request.withinMs, request.limit]);
    return rows.map(({ id, in_ms }) => ({ id, inMs: Math.round(in_ms) }));
  }

  override async markScan({
    gapMs,
    sawError,
  }: {
    readonly gapMs: number;
    readonly sawError: boolean;
  }): Promise<number> {
    const rows = await this.#db.write<{ unbroken_ms: number }>(MARK_SCAN, [gapMs, sawError]);
    return Math.round(rows[0]!.unbroken_ms);
  }

  override async findSuspects(request: SuspectQuery): Promise<readonly Suspect[]> {
    type Row = JobRow & { claim_age_ms: number; cancel_age_ms: number | null; worker_age_ms: number | null };
    const { ttlMs, timeoutSlackMs, cancelGraceMs, limit } = request;
    const rows = await this.#db.read<Row>(FIND_SUSPECTS, [ttlMs, timeoutSlackMs, cancelGraceMs, limit]);
    return rows.map((row) => ({
      job: toClaimedJob(row),
      claimAgeMs: Math.round(row.claim_age_ms),
      cancelAgeMs: row.cancel_age_ms === null ? null : Math.round(row.cancel_age_ms),
      workerAgeMs: row.worker_age_ms === null ? null : Math.round(row.worker_age_ms),
    }));
  }

  override async takeOutbox(query: OutboxQuery): Promise<readonly OutboxEntry[]> {
    const { olderThanMs, limit, backoffBaseMs, backoffMaxMs } = query;
    const rows = await this.#db.write<OutboxRow>(TAKE_OUTBOX, [olderThanMs, limit, backoffBaseMs, backoffMaxMs]);
    return rows.map(toOutboxEntry);
  }

  override async deleteOutbox(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#db.write(DELETE_OUTBOX, [toArrayLiteral(ids)]);
  }

  /** Deaths without an outbox row are looked up afterwards, with a snapshot that sees what the first statement waited for. */
  override async recordDeadLetters(deaths: readonly DeathNotice[]): Promise<readonly RecordedDeadLetter[]> {
    type Row = { job_id: string; attempt: number; superseded: boolean; reason: string };
    const answers = new Map<string, Pick<RecordedDeadLetter, 'kind' | 'reason'>>();
    const rest = new Map(deaths.map((death) => [deathKey(death), death]));
    for (const row of await this.#db.write<Row>(RECORD_DEAD_LETTERS, toDeaths([...rest.values()]))) {
      const key = deathKey({ jobId: row.job_id, attempt: row.attempt });
      answers.set(key, { kind: row.superseded ? 'superseded' : 'recorded', reason: row.reason });
      rest.delete(key);
    }
    const earlier = new Map<string, string>();
    const told = rest.size + answers.size < deaths.length ? deaths : [...rest.values()];
    for (const row of await this.#db.read<Row>(FIND_LETTERS_OF_DEATHS, toDeaths(told))) {
      earlier.set(deathKey({ jobId: row.job_id, attempt: row.attempt }), row.reason);
    }
    return deaths.map(({ jobId, attempt }) => {
      const key = deathKey({ jobId, attempt });
      const first = answers.get(key);
      answers.delete(key);
      const reason = earlier.get(key) ?? null;
      return { jobId, attempt, ...(first ?? { kind: reason === null ? 'unknown' : 'already', reason }) };
    });
  }

  override async purge(
    request: PurgeRequest,
  ): Promise<{ readonly jobs: number; readonly keys: number; readonly workers: number }> {
    const { finishedKeptMs, deadKeptMs, keyKeptMs, workerKeptMs, limit } = request;
    const keys = await this.#db.write<{ expired: boolean }>(PURGE_KEYS, [keyKeptMs, limit]);
    const [jobs] = await this.#db.write<{ jobs: number }>(PURGE_JOBS, [finishedKeptMs, deadKeptMs, limit]);
    const [workers] = await this.#db.write<{ workers: number }>(PURGE_WORKERS, [workerKeptMs, limit]);
    return { jobs: jobs!.jobs, keys: keys.filter(({ expired }) => expired).length, workers: workers!.workers };
  }

  /** Of several updates of one job, the last counts. */
  override async saveProgress(updates: readonly ProgressUpdate[]): Promise<void> {
    checkProgress(updates);
    const last = [...new Map(updates.map((update) => [update.jobId, update])).values()];
    if (last.length === 0) return;
    await this.#db.write(SAVE_PROGRESS, [
      toArrayLiteral(last.map(({ jobId }) => jobId)),
      toArrayLiteral(last.map(({ attempt }) => attempt)),
      toArrayLiteral(last.map(({ token }) => token)),
      toArrayLiteral(last.map(({ value }) => value)),
    ]);
  }

  override async findJob(id: string): Promise<JobView | null> {
    const [row] = await this.#db.read<JobViewRow>(FIND_JOB, [id]);
    return row === undefined ? null : toJobView(row);
  }

  override async listJobs(query: JobQuery): Promise<Page<JobView>> {
    const driver = driverOf(query);
    const values = [query.order === 'newest-first', ...toRange(query), ...toNames(driver, query), query.limit + 1];
    const rows = await this.#db.read<JobViewRow>(LIST_JOBS[driver], values);
    return toPage(rows.map(toJobView), query.limit, (job) => job);
  }

  override async countJobs(filter: JobFilter, atMost: number): Promise<number> {
    const driver = driverOf(filter);
    const values = [...toRange(filter), ...toNames(driver, filter), atMost];
    const [row] = await this.#db.read<{ count: number }>(COUNT_JOBS[driver], values);
    return row!.count;
  }

  override async listAttempts(
    jobId: string,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<readonly AttemptRecord[]> {
    return (await this.#db.read<AttemptRow>(LIST_ATTEMPTS, [jobId, after, limit])).map(toAttempt);
  }

  override async queueStats(queues: readonly string[], countAtMost: number): Promise<readonly QueueStats[]> {
    type Row = { queue: string; state: JobState; count: number; is_capped: boolean; oldest_age_ms: number | null };
    const names = toArrayLiteral([...new Set(queues)]);
    const states = [toArrayLiteral(OPEN_STATES), toArrayLiteral(TERMINAL_STATES)];
    const rows = await this.#db.read<Row>(QUEUE_STATS, [names, ...states, countAtMost]);
    return queues.map((queue) => {
      const ofQueue = rows.filter((row) => row.queue === queue);
      const ageMs = ofQueue.find(({ state }) => state === 'PENDING')?.oldest_age_ms ?? null;
      return {
        queue,
        counts: Object.fromEntries(ofQueue.map(({ state, count }) => [state, count])) as Record<JobState, number>,
        capped: ofQueue.flatMap(({ state, is_capped }) => (is_capped ? [state] : [])),
        oldestPendingAgeMs: ageMs === null ? null : Math.max(0, Math.round(ageMs)),
      };
    });
  }

  override async findDeadLetter(id: string): Promise<DeadLetter | null> {
    const [row] = await this.#db.read<DeadLetterRow>(FIND_DEAD_LETTER, [id]);
    return row === undefined ? null : toDeadLetter(row);
  }

  override async listDeadLetters(query: DeadLetterQuery): Promise<Page<DeadLetter>> {
    const isNewestFirst = query.order === 'newest-first';
    const place = query.after ? toPlace(query.after) : isNewestFirst ? AFTER_ALL : BEFORE_ALL;
    const names = [query.types, query.queues, query.reasons].map((list) => (list ? toArrayLiteral(list) : null));
    const values = [isNewestFirst, ...place, ...names, query.limit + 1];
    const rows = await this.#db.read<DeadLetterRow>(LIST_DEAD_LETTERS, values);
    return toPage(rows.map(toDeadLetter), query.limit, ({ recordedAt, id }) => ({ createdAt: recordedAt, id }));
  }

  override async outboxAgeMs(): Promise<number> {
    const [row] = await this.#db.read<{ age_ms: number }>(OUTBOX_AGE);
    return Math.round(row?.age_ms ?? 0);
  }

  override async ping(): Promise<void> {
    await this.#db.read(PING);
  }
}

/** The statement was asked for one row more than the page holds, which tells whether there is a next page. */
function toPage<Item>(found: readonly Item[], limit: number, positionOf: (item: Item) => Position): Page<Item> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length <= limit || last === undefined) return { items, next: null };
  const { createdAt, id } = positionOf(last);
  return { items, next: { createdAt, id } };
}

function toDeaths(deaths: readonly DeathNotice[]): readonly [string, string] {
  return [toArrayLiteral(deaths.map(({ jobId }) => jobId)), toArrayLiteral(deaths.map(({ attempt }) => attempt))];
}

function deathKey({ jobId, attempt }: DeathNotice): string {
  return `${jobId}/${attempt}`;
}
