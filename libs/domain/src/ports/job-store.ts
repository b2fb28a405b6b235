import type { AttemptRecord, ClaimedJob, DeadLetter, Job, JobSpec, JobView } from '../job.js';
import type { JobState } from '../job-state.js';
import type { Transition } from '../transition.js';
import type { OutboxEntry } from './transport.js';

/**
 * The jobs and everything that must change together with them. Every method is one transaction or less.
 *
 * What all methods throw, as `DeadmanError`:
 * `store-unavailable`, `statement-timeout`, `transaction-conflict`: nothing was changed; try again.
 * `unknown-outcome`: the connection broke after the request was sent; a write may have happened. Read back before repeating.
 * `data-rejected`: the database refuses a value of the batch; nothing was changed. Bisect to find it.
 *
 * A rejected batch changes nothing at all. Deadlocks are ruled out by taking row locks in id order.
 */
export abstract class JobStore {
  /**
   * Inserts jobs, their idempotency keys and one outbox row per queue, all or none. A submission whose key exists makes
   * no job: it is answered with the job that has the key. The same key twice in one batch counts as existing from the
   * second time on. A job submitted again under its own id, with or without its key, is stored once and answered
   * `created`: so a submit of unknown outcome can simply be repeated, and waits for the earlier one if that still runs.
   */
  abstract submit(batch: readonly Submission[]): Promise<SubmitReceipt>;

  /** Those of `ids` that are stored. How an unknown outcome of `submit` is cleared up. */
  abstract findJobs(ids: readonly string[]): Promise<readonly Job[]>;

  /**
   * Claims the jobs of `ids` that are PENDING, not in quarantine, and of a type in `types`. Waits for rows that others
   * hold: a skipped PENDING row would look as if it had been consumed. At most 500 ids.
   */
  abstract claim(request: TicketClaim): Promise<readonly ClaimedJob[]>;

  /** Claims PENDING jobs without a ticket, the longest stored first, passing over rows that others hold. */
  abstract claimIdle(request: IdleClaim): Promise<readonly ClaimedJob[]>;

  /** The jobs that are RUNNING under a claim token. How an unknown outcome of a claim is cleared up. */
  abstract findClaimed(token: string): Promise<readonly ClaimedJob[]>;

  /**
   * Writes decisions, each only if its fence still holds, together with history and outbox rows. Results are in the
   * order of the batch. A row whose fence fails never stops the others. At most 500; two transitions of one job are a bug.
   *
   * @param options.skipLocked passes over rows that others hold (answered `fenced`); for reapers.
   */
  abstract apply(batch: readonly Transition[], options?: { readonly skipLocked?: boolean }): Promise<ApplyReceipt>;

  /** Moves at most `limit` SCHEDULED and FAILED jobs whose time has come to PENDING, or those of `ids` that are due. */
  abstract promoteDue(request: { readonly limit: number; readonly ids?: readonly string[] }): Promise<PromoteReceipt>;

  /** What will be due within `withinMs`, soonest first, for the wake-up set. */
  abstract findDueSoon(request: { readonly withinMs: number; readonly limit: number }): Promise<readonly DueJob[]>;

  /**
   * Marks that a reaper scans now and returns for how long the database has been unbroken: the time since the last gap
   * over `gapMs` between scans of any reaper, or since the last scan that says `sawError`. Milliseconds.
   */
  abstract markScan(request: { readonly gapMs: number; readonly sawError: boolean }): Promise<number>;

  /** RUNNING jobs that a reaper has reason to look at: worker silent for a TTL, timeout passed, or cancel out of grace. */
  abstract findSuspects(request: SuspectQuery): Promise<readonly Suspect[]>;

  /** Takes outbox rows that nobody has sent for `olderThanMs`, and stamps when they may be taken again (backoff per row). */
  abstract takeOutbox(request: OutboxQuery): Promise<readonly OutboxEntry[]>;

  /** Deletes outbox rows of tickets that were sent. Never those of dead letters: only `recordDeadLetters` does. */
  abstract deleteOutbox(ids: readonly string[]): Promise<void>;

  /**
   * Records one dead letter per (job, attempt) and deletes the outbox row of that death, in one transaction. A job that is
   * no longer DEAD at that attempt gets a superseded letter. An unknown job or attempt records nothing.
   */
  abstract recordDeadLetters(deaths: readonly DeathNotice[]): Promise<readonly RecordedDeadLetter[]>;

  /** Deletes at most `limit` ended jobs that are past their time, with all that belongs to them. Keeps a job while its idempotency key lives. */
  abstract purge(
    request: PurgeRequest,
  ): Promise<{ readonly jobs: number; readonly keys: number; readonly workers: number }>;

  /** Stores progress of running jobs; one whose fence fails is passed over. */
  abstract saveProgress(updates: readonly ProgressUpdate[]): Promise<void>;

  /** A job with its progress and the sight of its worker. */
  abstract findJob(id: string): Promise<JobView | null>;

  /** A page of jobs. Costs the same however deep it is. */
  abstract listJobs(query: JobQuery): Promise<Page<JobView>>;

  /** How many jobs match, counting no further than `atMost`. */
  abstract countJobs(filter: JobFilter, atMost: number): Promise<number>;

  /** A job's attempts in order, the running one last. */
  abstract listAttempts(
    jobId: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly AttemptRecord[]>;

  /** Jobs per state and the age of the oldest pending one, for each of `queues`. Counts of ended states stop at `countAtMost`. */
  abstract queueStats(queues: readonly string[], countAtMost: number): Promise<readonly QueueStats[]>;

  abstract findDeadLetter(id: string): Promise<DeadLetter | null>;

  abstract listDeadLetters(query: DeadLetterQuery): Promise<Page<DeadLetter>>;

  /** Age of the oldest outbox row, in milliseconds; 0 when there is none. */
  abstract outboxAgeMs(): Promise<number>;

  /** Answers when the store can be reached. */
  abstract ping(): Promise<void>;
}

export interface Submission {
  readonly job: JobSpec;
  /** Made by `admit`. */
  readonly transition: Transition;
  /** Member name → digest of its value, of the request as the client meant it; stored with the key. Null exactly when the job has no key. */
  readonly fingerprint: Readonly<Record<string, string>> | null;
}

export type Submitted =
  | { readonly kind: 'created'; readonly job: Job }
  | { readonly kind: 'replayed'; readonly job: Job; readonly fingerprint: Readonly<Record<string, string>> };

export interface SubmitReceipt {
  /** In the order of the batch. */
  readonly results: readonly Submitted[];
  /** What to send, by whoever submitted, right after this returns. */
  readonly outbox: readonly OutboxEntry[];
}

interface ClaimRequest {
  /** A fresh random uuid, one per request. */
  readonly token: string;
  readonly workerId: string;
  /** The types this worker has handlers for. */
  readonly types: readonly string[];
  /** The lapse in a row from which a job is in quarantine. */
  readonly quarantineFrom: number;
}

export interface TicketClaim extends ClaimRequest {
  readonly ids: readonly string[];
}

export interface IdleClaim extends ClaimRequest {
  readonly queues: readonly string[];
  readonly limit: number;
  /** Only jobs that were stored at least this long ago by the database's clock, so that tickets come first. Milliseconds. */
  readonly minAgeMs: number;
  /** Claims jobs in quarantine instead of the others, marked `alone`. */
  readonly alone: boolean;
}

export interface Applied {
  readonly kind: 'applied';
  /** The state the row has now, as SQL resolved it. */
  readonly state: JobState;
  /** `effects-missing`: the success was turned into a release. `cancelled`: a cancel request decided. */
  readonly by: 'decision' | 'cancel-request' | 'effects-missing';
}

/**
 * `applied`  the row changed.
 * `already`  the history says that this very claim ended before, by a write like this one: the reply to an earlier try
 *            was lost. A lapse that a reaper wrote is not the worker's own end: that one answers `fenced`.
 * `fenced`   the row is no longer what the transition expects; nothing was written.
 */
export type ApplyResult = Applied | { readonly kind: 'already' } | { readonly kind: 'fenced' };

export interface ApplyReceipt {
  readonly results: readonly ApplyResult[];
  readonly outbox: readonly OutboxEntry[];
}

export interface PromoteReceipt {
  readonly promoted: number;
  /** By how much the latest of them is late, in milliseconds. */
  readonly maxDelayMs: number;
  readonly outbox: readonly OutboxEntry[];
}

export interface DueJob {
  readonly id: string;
  /** Milliseconds until it is due by the database's clock; negative when overdue. */
  readonly inMs: number;
}

export interface SuspectQuery {
  readonly ttlMs: number;
  readonly timeoutSlackMs: number;
  readonly cancelGraceMs: number;
  readonly limit: number;
}

/** A running job and the ages that decide about it, by the database's clock. */
export interface Suspect {
  readonly job: ClaimedJob;
  readonly claimAgeMs: number;
  readonly cancelAgeMs: number | null;
  readonly workerAgeMs: number | null;
}

export interface OutboxQuery {
  readonly olderThanMs: number;
  readonly limit: number;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
}

export interface DeathNotice {
  readonly jobId: string;
  readonly attempt: number;
}

export interface RecordedDeadLetter extends DeathNotice {
  /** `already`: an earlier delivery recorded it. `unknown`: there is no such death. */
  readonly kind: 'recorded' | 'superseded' | 'already' | 'unknown';
  readonly reason: string | null;
}

export interface PurgeRequest {
  readonly finishedKeptMs: number;
  readonly deadKeptMs: number;
  readonly keyKeptMs: number;
  /** Rows of workers that were last seen this long ago go too. */
  readonly workerKeptMs: number;
  readonly limit: number;
}

export interface ProgressUpdate {
  readonly jobId: string;
  readonly attempt: number;
  readonly token: string;
  /** JSON text. */
  readonly value: string;
}

/** Same name means OR, different names mean AND. An absent member does not filter. */
export interface JobFilter {
  readonly states?: readonly JobState[];
  readonly types?: readonly string[];
  readonly queues?: readonly string[];
  readonly tags?: readonly string[];
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
}

export interface JobQuery extends JobFilter {
  readonly order: 'newest-first' | 'oldest-first';
  readonly limit: number;
  /** The position after which the page begins. */
  readonly after?: Position;
}

/** A place in the order of creation. */
export interface Position {
  readonly createdAt: Date;
  readonly id: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins, null on the last. */
  readonly next: Position | null;
}

export interface DeadLetterQuery {
  readonly types?: readonly string[];
  readonly queues?: readonly string[];
  readonly reasons?: readonly string[];
  readonly order: 'newest-first' | 'oldest-first';
  readonly limit: number;
  readonly after?: Position;
}

export interface QueueStats {
  readonly queue: string;
  readonly counts: Readonly<Record<JobState, number>>;
  /** States whose count stopped at the limit: there are at least as many. */
  readonly capped: readonly JobState[];
  /** Time since the oldest pending job became due, in milliseconds; null when none is pending. */
  readonly oldestPendingAgeMs: number | null;
}
