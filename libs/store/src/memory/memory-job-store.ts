import { JobStore } from '@deadman/domain';
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
  JobView,
  OutboxEntry,
  OutboxQuery,
  Page,
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
import { apply } from './apply.js';
import { atomicCall } from './atomic-call.js';
import { claimIdle, claimTickets, findClaimed, promoteDue } from './claim.js';
import { countJobs, listAttempts, listDeadLetters, listJobs, queueStats, toView } from './lists.js';
import type { MemoryDatabase } from './memory-database.js';
import { deleteTickets, recordDeadLetters, takeOutbox } from './outbox.js';
import { submit } from './submit.js';
import { findDueSoon, findSuspects, markScan, purge, saveProgress } from './upkeep.js';

/**
 * The readable specification of a job store. Each method is one atomic call: others may come between two calls, never
 * into one. Since calls never overlap, nobody ever waits for a row that another holds, and `skipLocked` changes nothing.
 */
export class MemoryJobStore extends JobStore {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    super();
    this.#db = db;
  }

  override submit(batch: readonly Submission[]): Promise<SubmitReceipt> {
    return atomicCall(() => {
      checkSubmissions(batch);
      return submit(this.#db, batch, DUE_NOTICE_MS);
    });
  }

  override findJobs(ids: readonly string[]): Promise<readonly Job[]> {
    return atomicCall(() => ids.flatMap((id) => this.#db.jobs.get(id) ?? []));
  }

  override claim(request: TicketClaim): Promise<readonly ClaimedJob[]> {
    return atomicCall(() => claimTickets(this.#db, request));
  }

  override claimIdle(request: IdleClaim): Promise<readonly ClaimedJob[]> {
    return atomicCall(() => claimIdle(this.#db, request));
  }

  override findClaimed(token: string): Promise<readonly ClaimedJob[]> {
    return atomicCall(() => findClaimed(this.#db, token));
  }

  override apply(batch: readonly Transition[]): Promise<ApplyReceipt> {
    return atomicCall(() => {
      checkTransitions(batch);
      return apply(this.#db, batch);
    });
  }

  override promoteDue(request: { readonly limit: number; readonly ids?: readonly string[] }): Promise<PromoteReceipt> {
    return atomicCall(() => promoteDue(this.#db, request));
  }

  override findDueSoon(request: { readonly withinMs: number; readonly limit: number }): Promise<readonly DueJob[]> {
    return atomicCall(() => findDueSoon(this.#db, request.withinMs, request.limit));
  }

  override markScan(request: { readonly gapMs: number; readonly sawError: boolean }): Promise<number> {
    return atomicCall(() => markScan(this.#db, request.gapMs, request.sawError));
  }

  override findSuspects(request: SuspectQuery): Promise<readonly Suspect[]> {
    return atomicCall(() => findSuspects(this.#db, request));
  }

  override takeOutbox(request: OutboxQuery): Promise<readonly OutboxEntry[]> {
    return atomicCall(() => takeOutbox(this.#db, request));
  }

  override deleteOutbox(ids: readonly string[]): Promise<void> {
    return atomicCall(() => deleteTickets(this.#db, ids));
  }

  override recordDeadLetters(deaths: readonly DeathNotice[]): Promise<readonly RecordedDeadLetter[]> {
    return atomicCall(() => recordDeadLetters(this.#db, deaths));
  }

  override purge(
    request: PurgeRequest,
  ): Promise<{ readonly jobs: number; readonly keys: number; readonly workers: number }> {
    return atomicCall(() => purge(this.#db, request));
  }

  override saveProgress(updates: readonly ProgressUpdate[]): Promise<void> {
    return atomicCall(() => {
      checkProgress(updates);
      saveProgress(this.#db, updates);
    });
  }

  override findJob(id: string): Promise<JobView | null> {
    return atomicCall(() => {
      const job = this.#db.jobs.get(id);
      return job === undefined ? null : toView(this.#db, job);
    });
  }

  override listJobs(query: JobQuery): Promise<Page<JobView>> {
    return atomicCall(() => listJobs(this.#db, query));
  }

  override countJobs(filter: JobFilter, atMost: number): Promise<number> {
    return atomicCall(() => countJobs(this.#db, filter, atMost));
  }

  override listAttempts(
    jobId: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly AttemptRecord[]> {
    return atomicCall(() => listAttempts(this.#db, jobId, page));
  }

  override queueStats(queues: readonly string[], countAtMost: number): Promise<readonly QueueStats[]> {
    return atomicCall(() => queueStats(this.#db, queues, countAtMost));
  }

  override findDeadLetter(id: string): Promise<DeadLetter | null> {
    return atomicCall(() => [...this.#db.deadLetters.values()].find((letter) => letter.id === id) ?? null);
  }

  override listDeadLetters(query: DeadLetterQuery): Promise<Page<DeadLetter>> {
    return atomicCall(() => listDeadLetters(this.#db, query));
  }

  override outboxAgeMs(): Promise<number> {
    return atomicCall(() => {
      const oldest = this.#db.outbox.values().next().value;
      return oldest === undefined ? 0 : this.#db.now().getTime() - oldest.createdAt.getTime();
    });
  }

  override ping(): Promise<void> {
    return atomicCall(() => undefined);
  }
}
