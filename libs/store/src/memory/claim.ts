import { DEFAULT_LIMITS, Transition, transition } from '@deadman/domain';
import type { ClaimedJob, IdleClaim, Job, JobEvent, PromoteReceipt, Rules, TicketClaim } from '@deadman/domain';
import type { MemoryDatabase } from './memory-database.js';
import { isClaimed } from './memory-database.js';
import { writeTickets } from './outbox.js';

/** Claims and promotions depend on neither limits nor dice; a change of that must not go unseen. */
const NO_DICE: Rules = {
  limits: DEFAULT_LIMITS,
  random: {
    next: () => {
      throw new TypeError('A claim or a promotion rolls no dice');
    },
  },
};

export function claimTickets(db: MemoryDatabase, request: TicketClaim): readonly ClaimedJob[] {
  const jobs = [...new Set(request.ids)].toSorted().flatMap((id) => db.jobs.get(id) ?? []);
  return jobs.filter((job) => isClaimable(job, request, false)).map((job) => claimOne(db, job, request, false));
}

export function claimIdle(db: MemoryDatabase, request: IdleClaim): readonly ClaimedJob[] {
  const youngest = db.now().getTime() - request.minAgeMs;
  const chosen: Job[] = [];
  for (const job of db.pending.ascending()) {
    if (chosen.length === request.limit || job.createdAt.getTime() > youngest) break;
    if (request.queues.includes(job.queue) && isClaimable(job, request, request.alone)) chosen.push(job);
  }
  return chosen.map((job) => claimOne(db, job, request, request.alone));
}

/** Moves what is due to PENDING: those of `ids`, or the longest due first. */
export function promoteDue(
  db: MemoryDatabase,
  { limit, ids }: { readonly limit: number; readonly ids?: readonly string[] },
): PromoteReceipt {
  const due = dueJobs(db, ids).slice(0, limit);
  const promoted = due.map((job) => {
    const next: Job = { ...job, state: decide(job, { kind: 'due' }).state, version: job.version + 1 };
    db.put(next);
    return next;
  });
  const delays = due.map((job) => db.now().getTime() - job.scheduledFor.getTime());
  return { promoted: promoted.length, maxDelayMs: Math.max(0, ...delays), outbox: writeTickets(db, promoted) };
}

function dueJobs(db: MemoryDatabase, ids: readonly string[] | undefined): Job[] {
  const now = db.now();
  if (ids !== undefined) {
    const named = [...new Set(ids)].flatMap((id) => db.jobs.get(id) ?? []);
    return named.filter(({ state, scheduledFor }) => isWaiting(state) && scheduledFor <= now);
  }
  const due: Job[] = [];
  for (const job of db.waiting.ascending()) {
    if (job.scheduledFor > now) break;
    due.push(job);
  }
  return due;
}

function isWaiting(state: Job['state']): boolean {
  return state === 'SCHEDULED' || state === 'FAILED';
}

/** A job in quarantine is taken only by a claim for one that runs alone, and such a claim takes nothing else. */
function isClaimable(
  job: Job,
  { types, quarantineFrom }: Pick<TicketClaim, 'types' | 'quarantineFrom'>,
  alone: boolean,
): boolean {
  const isQuarantined = job.lapsesInRow >= quarantineFrom;
  return job.state === 'PENDING' && types.includes(job.type) && isQuarantined === alone;
}

function claimOne(
  db: MemoryDatabase,
  job: Job,
  { token, workerId }: Pick<TicketClaim, 'token' | 'workerId'>,
  alone: boolean,
): ClaimedJob {
  const { state, attempt } = decide(job, { kind: 'claim', alone });
  const claimedAt = db.now();
  const claim = { token, workerId, claimedAt, alone };
  const claimed = { ...job, state, attempt, version: job.version + 1, startedAt: claimedAt, claim };
  db.put(claimed);
  return claimed;
}

function decide(job: Job, event: JobEvent): Transition['decision'] {
  const made = transition(job, event, NO_DICE);
  if (Transition.isGenuine(made)) return made.decision;
  throw new TypeError(`The domain refuses "${event.kind}" for a job that is ${job.state}`);
}

export function findClaimed(db: MemoryDatabase, token: string): readonly ClaimedJob[] {
  return [...db.running.values()].filter((job) => isClaimed(job) && job.claim.token === token);
}
