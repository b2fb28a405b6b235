import { NO_COUNTS } from '@deadman/domain';
import type { Job, OutboxEntry, Submission, Submitted, SubmitReceipt } from '@deadman/domain';
import { resolveDue } from './decide.js';
import type { MemoryDatabase } from './memory-database.js';
import { writeTickets } from './outbox.js';

/** Inserts what is new of a batch; everything else is answered with what is there. */
export function submit(db: MemoryDatabase, batch: readonly Submission[], dueNoticeMs: number): SubmitReceipt {
  const inserted: Job[] = [];
  const results = batch.map((submission) => submitOne(db, submission, inserted));
  const outbox: readonly OutboxEntry[] = writeTickets(db, inserted);
  const soon = db.now().getTime() + dueNoticeMs;
  if (inserted.some((job) => job.state === 'SCHEDULED' && job.scheduledFor.getTime() <= soon)) {
    db.notify({ kind: 'due' });
  }
  return { results, outbox };
}

function submitOne(db: MemoryDatabase, submission: Submission, inserted: Job[]): Submitted {
  const { id, idempotencyKey: key } = submission.job;
  const holder = key === null ? undefined : db.keys.get(key);
  if (holder !== undefined && holder.jobId !== id) {
    return { kind: 'replayed', job: db.jobs.get(holder.jobId)!, fingerprint: holder.fingerprint };
  }
  if (key !== null && holder === undefined) db.keys.set(key, { jobId: id, fingerprint: submission.fingerprint! });
  const stored = db.jobs.get(id);
  if (stored !== undefined) return { kind: 'created', job: stored };
  const job = toRow(submission, db.now());
  db.put(job);
  inserted.push(job);
  return { kind: 'created', job };
}

function toRow({ job: spec, transition: { decision } }: Submission, now: Date): Job {
  const scheduledFor = decision.due === 'keep' ? now : resolveDue(decision.due, now);
  return {
    ...spec,
    ...NO_COUNTS,
    state: scheduledFor > now ? 'SCHEDULED' : decision.state,
    version: 1,
    attempt: decision.attempt,
    result: null,
    createdAt: now,
    scheduledFor,
    startedAt: null,
    finishedAt: null,
    cancelRequestedAt: null,
    lastError: null,
    claim: null,
  };
}
