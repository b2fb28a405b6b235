import { isTerminal } from '@deadman/domain';
import type { DueJob, Job, ProgressUpdate, PurgeRequest, Suspect, SuspectQuery } from '@deadman/domain';
import { holds } from './decide.js';
import { byClaimTime } from './job-orders.js';
import type { MemoryDatabase } from './memory-database.js';

export function findDueSoon(db: MemoryDatabase, withinMs: number, limit: number): readonly DueJob[] {
  const now = db.now().getTime();
  const soon: DueJob[] = [];
  for (const { id, scheduledFor } of db.waiting.ascending()) {
    const inMs = scheduledFor.getTime() - now;
    if (soon.length === limit || inMs > withinMs) break;
    soon.push({ id, inMs });
  }
  return soon;
}

export function markScan(db: MemoryDatabase, gapMs: number, sawError: boolean): number {
  const now = db.now();
  const isBroken = sawError || now.getTime() - db.watch.lastScanAt.getTime() > gapMs;
  db.watch = { unbrokenSince: isBroken ? now : db.watch.unbrokenSince, lastScanAt: now };
  return now.getTime() - db.watch.unbrokenSince.getTime();
}

export function findSuspects(db: MemoryDatabase, query: SuspectQuery): readonly Suspect[] {
  const now = db.now().getTime();
  const ageMs = (since: Date | null | undefined): number | null => (since ? now - since.getTime() : null);
  return [...db.running.values()]
    .toSorted(byClaimTime)
    .map((job) => ({
      job,
      claimAgeMs: now - job.claim.claimedAt.getTime(),
      cancelAgeMs: ageMs(job.cancelRequestedAt),
      workerAgeMs: ageMs(db.workers.get(job.claim.workerId)?.lastSeenAt),
    }))
    .filter((suspect) => isSuspect(suspect, query))
    .slice(0, query.limit);
}

function isSuspect({ job, claimAgeMs, cancelAgeMs, workerAgeMs }: Suspect, query: SuspectQuery): boolean {
  if (claimAgeMs <= query.ttlMs) return false;
  if (claimAgeMs > query.ttlMs + job.timeoutMs + query.timeoutSlackMs) return true;
  if (cancelAgeMs !== null && cancelAgeMs > query.cancelGraceMs) return true;
  return workerAgeMs === null || workerAgeMs > query.ttlMs;
}

/** Keys first, since a job stays while its key lives. */
export function purge(
  db: MemoryDatabase,
  request: PurgeRequest,
): { readonly jobs: number; readonly keys: number; readonly workers: number } {
  return { keys: purgeKeys(db, request), jobs: purgeJobs(db, request), workers: purgeWorkers(db, request) };
}

function purgeKeys(db: MemoryDatabase, { keyKeptMs, limit }: PurgeRequest): number {
  const expired = [...db.keys].filter(([, { jobId }]) => {
    const job = db.jobs.get(jobId);
    return job === undefined || hasEndedFor(db, job, keyKeptMs);
  });
  for (const [key] of expired.slice(0, limit)) db.keys.delete(key);
  return Math.min(expired.length, limit);
}

/** A death that nobody has recorded yet keeps its job. */
function purgeJobs(db: MemoryDatabase, { finishedKeptMs, deadKeptMs, limit }: PurgeRequest): number {
  const unrecorded = new Set([...db.unrecorded.values()].map((rowId) => db.outbox.get(rowId)?.death?.jobId));
  const keyed = new Set([...db.keys.values()].map(({ jobId }) => jobId));
  const expired = [...db.jobs.values()].filter(
    (job) =>
      hasEndedFor(db, job, job.state === 'DEAD' ? deadKeptMs : finishedKeptMs) &&
      !keyed.has(job.id) &&
      !unrecorded.has(job.id),
  );
  const victims = expired.slice(0, limit);
  for (const job of victims) db.remove(job);
  return victims.length;
}

function hasEndedFor(db: MemoryDatabase, { state, finishedAt }: Job, keptMs: number): boolean {
  return isTerminal(state) && finishedAt !== null && db.now().getTime() - finishedAt.getTime() >= keptMs;
}

function purgeWorkers(db: MemoryDatabase, { workerKeptMs, limit }: PurgeRequest): number {
  const gone = [...db.workers.values()].filter(
    ({ lastSeenAt }) => db.now().getTime() - lastSeenAt.getTime() >= workerKeptMs,
  );
  const victims = gone.slice(0, limit);
  for (const { incarnation } of victims) db.workers.delete(incarnation);
  return victims.length;
}

/** Each update raises the sequence, so that a reader sees that something moved even when the value is the same. */
export function saveProgress(db: MemoryDatabase, updates: readonly ProgressUpdate[]): void {
  for (const { jobId, attempt, token, value } of updates) {
    const job = db.jobs.get(jobId);
    if (job === undefined || !holds({ by: 'claim', attempt, token }, job)) continue;
    const sequence = (db.progress.get(jobId)?.sequence ?? 0) + 1;
    db.progress.set(jobId, { value, sequence, at: db.now() });
  }
}
