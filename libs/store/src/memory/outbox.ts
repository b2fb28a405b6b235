import type {
  AttemptRecord,
  DeadLetter,
  DeathNotice,
  Job,
  OutboxEntry,
  OutboxQuery,
  RecordedDeadLetter,
} from '@deadman/domain';
import { deathKey } from './memory-database.js';
import type { MemoryDatabase, OutboxRow } from './memory-database.js';

/** One row per queue for those of `jobs` that are ready now. */
export function writeTickets(db: MemoryDatabase, jobs: readonly Job[]): readonly OutboxEntry[] {
  const byQueue = new Map<string, string[]>();
  for (const job of jobs) {
    if (job.state !== 'PENDING') continue;
    byQueue.set(job.queue, [...(byQueue.get(job.queue) ?? []), job.id]);
  }
  return [...byQueue].map(([queue, jobIds]) =>
    write(db, { id: db.nextId(), kind: 'ready', queue, jobIds: jobIds.toSorted() }, null),
  );
}

/** The row of one death, with all that its dead letter will tell: a person's retry may change the job before it is recorded. */
export function writeDeath(db: MemoryDatabase, job: Job, ended: AttemptRecord): OutboxEntry {
  const { id: jobId, attempt, type, queue, failures, lapses } = job;
  const id = db.nextId();
  db.unrecorded.set(deathKey({ jobId, attempt }), id);
  const reason = ended.reason ?? ended.outcome;
  const death = {
    jobId,
    attempt,
    type,
    queue,
    reason,
    error: ended.error,
    failures,
    lapses,
    diedAt: ended.finishedAt!,
  };
  return write(db, { id, kind: 'dead', jobId, attempt }, death);
}

function write(db: MemoryDatabase, entry: OutboxEntry, death: OutboxRow['death']): OutboxEntry {
  db.outbox.set(entry.id, { entry, createdAt: db.now(), nextTryAt: db.now(), tries: 0, death });
  return entry;
}

export function takeOutbox(db: MemoryDatabase, query: OutboxQuery): readonly OutboxEntry[] {
  const now = db.now().getTime();
  const taken: OutboxEntry[] = [];
  for (const [id, row] of db.outbox) {
    if (taken.length === query.limit) break;
    if (row.nextTryAt.getTime() > now || row.createdAt.getTime() > now - query.olderThanMs) continue;
    const backoffMs = Math.min(query.backoffMaxMs, query.backoffBaseMs * 2 ** row.tries);
    db.outbox.set(id, { ...row, tries: row.tries + 1, nextTryAt: new Date(now + backoffMs) });
    taken.push(row.entry);
  }
  return taken;
}

export function deleteTickets(db: MemoryDatabase, ids: readonly string[]): void {
  for (const id of ids) {
    if (db.outbox.get(id)?.entry.kind === 'ready') db.outbox.delete(id);
  }
}

export function recordDeadLetters(db: MemoryDatabase, deaths: readonly DeathNotice[]): readonly RecordedDeadLetter[] {
  return deaths.map((notice) => {
    const { jobId, attempt } = notice;
    const earlier = db.deadLetters.get(deathKey(notice));
    if (earlier !== undefined) return { jobId, attempt, kind: 'already', reason: earlier.reason };
    const row = db.outbox.get(db.unrecorded.get(deathKey(notice)) ?? '');
    if (row === undefined || row.death === null) return { jobId, attempt, kind: 'unknown', reason: null };
    const letter = record(db, row.entry.id, row.death);
    return { jobId, attempt, kind: letter.superseded ? 'superseded' : 'recorded', reason: letter.reason };
  });
}

function record(db: MemoryDatabase, rowId: string, death: NonNullable<OutboxRow['death']>): DeadLetter {
  const job = db.jobs.get(death.jobId);
  const superseded = job?.state !== 'DEAD' || job.attempt !== death.attempt;
  const letter = { ...death, id: db.nextId(), recordedAt: db.now(), superseded };
  db.deadLetters.set(deathKey(death), letter);
  db.unrecorded.delete(deathKey(death));
  db.outbox.delete(rowId);
  return letter;
}
