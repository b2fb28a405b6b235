import type {
  AttemptRecord,
  ClaimedJob,
  Clock,
  DeadLetter,
  DeathNotice,
  Job,
  JobState,
  OutboxEntry,
  StoreNotice,
  WorkerRecord,
} from '@deadman/domain';
import { byCreation, byDueTime } from './job-orders.js';
import { SortedSet } from './sorted-set.js';

export interface KeyRow {
  readonly jobId: string;
  readonly fingerprint: Readonly<Record<string, string>>;
}

export interface OutboxRow {
  readonly entry: OutboxEntry;
  readonly createdAt: Date;
  readonly nextTryAt: Date;
  readonly tries: number;
  /** What a dead letter tells of the job as it died; null for tickets. */
  readonly death: Omit<DeadLetter, 'id' | 'recordedAt' | 'superseded'> | null;
}

export interface ProgressRow {
  readonly value: string;
  readonly sequence: number;
  readonly at: Date;
}

export interface StepRow {
  /** The attempt that did it; until it is done, the one that began it first. */
  readonly attempt: number;
  /** Null until it is done. */
  readonly value: string | null;
}

/** A statement of a handler's transaction that committed. */
export interface StatementRow {
  readonly jobId: string;
  /** Of the effect. */
  readonly key: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

export interface WorkerRow extends WorkerRecord {
  readonly lastSeenAt: Date;
}

/**
 * The tables that the stores in memory share, with the indexes that keep every hot operation from walking them. Rows are
 * never changed in place: what a caller was given stays what it was.
 */
export class MemoryDatabase {
  readonly jobs = new Map<string, Job>();
  readonly byCreation = new SortedSet<Job>(byCreation);
  readonly pending = new SortedSet<Job>(byCreation);
  readonly waiting = new SortedSet<Job>(byDueTime);
  readonly running = new Map<string, ClaimedJob>();
  readonly attempts = new Map<string, AttemptRecord[]>();
  readonly keys = new Map<string, KeyRow>();
  readonly outbox = new Map<string, OutboxRow>();
  /** By job, then by key. */
  readonly effects = new Map<string, ReadonlyMap<string, string>>();
  /** By job, then by name. */
  readonly steps = new Map<string, ReadonlyMap<string, StepRow>>();
  /** What handlers' transactions did, in the order of their commits: a ledger that nothing keeps from growing twice. */
  readonly statements: StatementRow[] = [];
  readonly progress = new Map<string, ProgressRow>();
  readonly workers = new Map<string, WorkerRow>();
  /** By `deathKey`, as are `unrecorded`. */
  readonly deadLetters = new Map<string, DeadLetter>();
  /** The outbox row of each death that no dead letter tells of yet. */
  readonly unrecorded = new Map<string, string>();
  /** The one row that tells for how long the database has been watched without a gap. */
  watch: { readonly unbrokenSince: Date; readonly lastScanAt: Date };

  readonly #clock: Pick<Clock, 'now'>;
  readonly #listeners = new Set<(notice: StoreNotice) => void>();
  #ids = 0;

  /** @param clock the database's own clock: the only one that decides what is due. */
  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.watch = { unbrokenSince: this.now(), lastScanAt: this.now() };
  }

  now(): Date {
    return new Date(this.#clock.now());
  }

  /** A time-ordered id. Counted, not drawn, so that a seeded simulation repeats itself. */
  nextId(): string {
    this.#ids += 1;
    const time = this.now().getTime().toString(16).padStart(12, '0');
    const count = this.#ids.toString(16).padStart(15, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8${count.slice(0, 3)}-${count.slice(3)}`;
  }

  /** Inserts a job or replaces the row of the same id. */
  put(job: Job): void {
    const before = this.jobs.get(job.id);
    if (before !== undefined) this.#unindex(before);
    this.jobs.set(job.id, job);
    this.byCreation.add(job);
    this.#stateIndex(job.state)?.add(job);
    if (isClaimed(job)) this.running.set(job.id, job);
  }

  /** Deletes a job with all that belongs to it, its idempotency key excepted. */
  remove(job: Job): void {
    this.#unindex(job);
    this.jobs.delete(job.id);
    this.attempts.delete(job.id);
    this.effects.delete(job.id);
    this.steps.delete(job.id);
    this.progress.delete(job.id);
    for (let attempt = 1; attempt <= job.attempt; attempt += 1) {
      this.deadLetters.delete(deathKey({ jobId: job.id, attempt }));
    }
  }

  /** What a handler's transaction leaves beside its own writes. */
  recordEffect(jobId: string, key: string, value = 'null'): void {
    this.effects.set(jobId, new Map(this.effects.get(jobId)).set(key, value));
  }

  /** Tells the listeners, after the call that says so has returned. */
  notify(notice: StoreNotice): void {
    for (const listener of this.#listeners) queueMicrotask(() => listener(notice));
  }

  listen(listener: (notice: StoreNotice) => void): void {
    this.#listeners.add(listener);
  }

  unlisten(listener: (notice: StoreNotice) => void): void {
    this.#listeners.delete(listener);
  }

  #unindex(job: Job): void {
    this.byCreation.delete(job);
    this.#stateIndex(job.state)?.delete(job);
    this.running.delete(job.id);
  }

  #stateIndex(state: JobState): SortedSet<Job> | null {
    if (state === 'PENDING') return this.pending;
    return state === 'SCHEDULED' || state === 'FAILED' ? this.waiting : null;
  }
}

/** There is at most one death of a job at an attempt. */
export function deathKey({ jobId, attempt }: DeathNotice): string {
  return `${jobId}/${attempt}`;
}

export function isClaimed(job: Job): job is ClaimedJob {
  return job.claim !== null;
}
