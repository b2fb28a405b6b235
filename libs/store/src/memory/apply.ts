import { isTerminal } from '@deadman/domain';
import type {
  ApplyReceipt,
  ApplyResult,
  AttemptRecord,
  Decision,
  Job,
  LastError,
  OutboxEntry,
  Transition,
} from '@deadman/domain';
import { isOwnEnd } from '../own-end.js';
import { choose, holds, resolveDue } from './decide.js';
import type { MemoryDatabase } from './memory-database.js';
import { writeDeath, writeTickets } from './outbox.js';

/** Writes each decision whose fence holds. Nothing can fail once the first is written. */
export function apply(db: MemoryDatabase, batch: readonly Transition[]): ApplyReceipt {
  const changed: Job[] = [];
  const deaths: OutboxEntry[] = [];
  const results = batch.map((transition): ApplyResult => {
    const job = db.jobs.get(transition.jobId);
    if (job === undefined || !holds(transition.fence, job)) {
      return { kind: endedBefore(db, transition) ? 'already' : 'fenced' };
    }
    const { decision, by } = choose(transition, job, db.effects.get(job.id));
    const next = toNextRow(job, decision, db.now());
    const ended = toHistory(job, decision, db.now());
    db.put(next);
    if (ended !== null) db.attempts.set(job.id, [...(db.attempts.get(job.id) ?? []), ended]);
    if (next.state === 'DEAD' && ended !== null) deaths.push(writeDeath(db, next, ended));
    changed.push(next);
    return { kind: 'applied', state: next.state, by };
  });
  askToCancel(db, changed, batch);
  return { results, outbox: [...writeTickets(db, changed), ...deaths] };
}

function endedBefore(db: MemoryDatabase, transition: Transition): boolean {
  const history = db.attempts.get(transition.jobId) ?? [];
  return history.some((row) => isOwnEnd(transition, row));
}

function toNextRow(job: Job, decision: Decision, now: Date): Job {
  const scheduledFor = decision.due === 'keep' ? job.scheduledFor : resolveDue(decision.due, now);
  const isEarly = decision.state === 'PENDING' && scheduledFor > now;
  const state = isEarly ? 'SCHEDULED' : decision.state;
  return {
    ...job,
    state,
    scheduledFor,
    version: job.version + 1,
    failures: decision.failures,
    lapses: decision.lapses,
    lapsesInRow: decision.lapsesInRow,
    crashes: decision.crashes,
    snoozes: decision.snoozes,
    result: decision.result,
    finishedAt: isTerminal(state) ? now : null,
    cancelRequestedAt: nextCancelRequest(job, decision, now),
    lastError: nextLastError(job, decision, now),
    claim: state === 'RUNNING' ? job.claim : null,
  };
}

/** Asking again does not move the first request: its grace runs. */
function nextCancelRequest(job: Job, { cancelRequest }: Decision, now: Date): Date | null {
  if (cancelRequest === 'clear') return null;
  return cancelRequest === 'ask' ? (job.cancelRequestedAt ?? now) : job.cancelRequestedAt;
}

function nextLastError(job: Job, { lastError }: Decision, now: Date): LastError | null {
  if (lastError === 'keep') return job.lastError;
  return lastError === 'clear' ? null : { ...lastError, attempt: job.attempt, at: now };
}

function toHistory(job: Job, { ends }: Decision, now: Date): AttemptRecord | null {
  if (ends === null || job.claim === null) return null;
  const { token, workerId, claimedAt } = job.claim;
  return {
    jobId: job.id,
    attempt: job.attempt,
    outcome: ends.outcome,
    claimToken: token,
    workerId,
    claimedAt,
    startedAt: ends.startedAfterMs === null ? null : new Date(claimedAt.getTime() + ends.startedAfterMs),
    finishedAt: now,
    error: ends.error,
    reclaimedBy: ends.reclaimedBy,
    reason: ends.reason,
  };
}

/** Tells the workers of jobs that go on running. */
function askToCancel(db: MemoryDatabase, changed: readonly Job[], batch: readonly Transition[]): void {
  const asked = new Set(batch.flatMap(({ event, jobId }) => (event === 'cancel' ? [jobId] : [])));
  const claims = changed.flatMap(({ id, state, claim }) => {
    return state === 'RUNNING' && claim !== null && asked.has(id) ? [{ jobId: id, token: claim.token }] : [];
  });
  if (claims.length > 0) db.notify({ kind: 'cancel', claims });
}
