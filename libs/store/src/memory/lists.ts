import { JOB_STATES } from '@deadman/domain';
import type {
  AttemptRecord,
  DeadLetter,
  DeadLetterQuery,
  Job,
  JobFilter,
  JobQuery,
  JobState,
  JobView,
  Page,
  Position,
  QueueStats,
} from '@deadman/domain';
import { byCreation } from './job-orders.js';
import type { MemoryDatabase } from './memory-database.js';

/** States whose jobs wait or run: their counts are never capped, because operators steer by them. */
const OPEN_STATES: ReadonlySet<JobState> = new Set(['PENDING', 'SCHEDULED', 'RUNNING', 'FAILED']);

export function toView(db: MemoryDatabase, job: Job): JobView {
  const worker = job.claim && db.workers.get(job.claim.workerId);
  return { ...job, workerSeenAt: worker?.lastSeenAt ?? null, progress: db.progress.get(job.id) ?? null };
}

export function listJobs(db: MemoryDatabase, query: JobQuery): Page<JobView> {
  const isNewestFirst = query.order === 'newest-first';
  const inOrder = isNewestFirst ? db.byCreation.descending() : db.byCreation.ascending();
  return toPage(
    inOrder,
    query,
    (job) => matches(job, query),
    (job) => job,
    (job) => toView(db, job),
  );
}

export function countJobs(db: MemoryDatabase, filter: JobFilter, atMost: number): number {
  let count = 0;
  for (const job of db.jobs.values()) {
    if (count === atMost) break;
    if (matches(job, filter)) count += 1;
  }
  return count;
}

export function listDeadLetters(db: MemoryDatabase, query: DeadLetterQuery): Page<DeadLetter> {
  const position = ({ recordedAt, id }: DeadLetter): Position => ({ createdAt: recordedAt, id });
  const ascending = [...db.deadLetters.values()].toSorted((a, b) => byCreation(position(a), position(b)));
  const inOrder = query.order === 'newest-first' ? ascending.toReversed() : ascending;
  const isWanted = ({ type, queue, reason }: DeadLetter): boolean =>
    isOneOf(type, query.types) && isOneOf(queue, query.queues) && isOneOf(reason, query.reasons);
  return toPage(inOrder, query, isWanted, position, (letter) => letter);
}

/** One item more than the page holds tells whether there is a next page. */
function toPage<Row, Item>(
  inOrder: Iterable<Row>,
  { order, limit, after }: Pick<JobQuery, 'order' | 'limit' | 'after'>,
  isWanted: (row: Row) => boolean,
  positionOf: (row: Row) => Position,
  toItem: (row: Row) => Item,
): Page<Item> {
  const direction = order === 'newest-first' ? -1 : 1;
  const found: Row[] = [];
  for (const row of inOrder) {
    if (found.length > limit) break;
    const isPast = after === undefined || byCreation(positionOf(row), after) * direction > 0;
    if (isPast && isWanted(row)) found.push(row);
  }
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const hasNext = found.length > limit && last !== undefined;
  return { items: items.map(toItem), next: hasNext ? place(positionOf(last)) : null };
}

function place({ createdAt, id }: Position): Position {
  return { createdAt, id };
}

function matches(job: Job, filter: JobFilter): boolean {
  return (
    isOneOf(job.state, filter.states) &&
    isOneOf(job.type, filter.types) &&
    isOneOf(job.queue, filter.queues) &&
    (filter.tags === undefined || filter.tags.some((tag) => job.tags.includes(tag))) &&
    (filter.createdAfter === undefined || job.createdAt > filter.createdAfter) &&
    (filter.createdBefore === undefined || job.createdAt < filter.createdBefore)
  );
}

function isOneOf<T>(value: T, allowed: readonly T[] | undefined): boolean {
  return allowed === undefined || allowed.includes(value);
}

export function listAttempts(
  db: MemoryDatabase,
  jobId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): readonly AttemptRecord[] {
  const ended = db.attempts.get(jobId) ?? [];
  const running = db.running.get(jobId);
  const all = running === undefined ? ended : [...ended, toRunningAttempt(running)];
  return all.filter(({ attempt }) => attempt > after).slice(0, limit);
}

function toRunningAttempt({ id, attempt, claim }: Job & { claim: NonNullable<Job['claim']> }): AttemptRecord {
  return {
    jobId: id,
    attempt,
    outcome: 'running',
    claimToken: claim.token,
    workerId: claim.workerId,
    claimedAt: claim.claimedAt,
    startedAt: null,
    finishedAt: null,
    error: null,
    reclaimedBy: null,
    reason: null,
  };
}

export function queueStats(db: MemoryDatabase, queues: readonly string[], countAtMost: number): readonly QueueStats[] {
  return queues.map((queue) => {
    const jobs = [...db.jobs.values()].filter((job) => job.queue === queue);
    const found = (state: JobState): number => jobs.filter((job) => job.state === state).length;
    const isCapped = (state: JobState): boolean => !OPEN_STATES.has(state) && found(state) > countAtMost;
    const count = (state: JobState): number => (isCapped(state) ? countAtMost : found(state));
    const dueTimes = jobs.flatMap((job) => (job.state === 'PENDING' ? [job.scheduledFor.getTime()] : []));
    return {
      queue,
      counts: Object.fromEntries(JOB_STATES.map((state) => [state, count(state)])) as Record<JobState, number>,
      capped: JOB_STATES.filter(isCapped),
      oldestPendingAgeMs: dueTimes.length === 0 ? null : Math.max(0, db.now().getTime() - Math.min(...dueTimes)),
    };
  });
}
