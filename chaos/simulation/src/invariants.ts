import { isTerminal } from '@deadman/domain';
import type { Job, JobLimits, JobState, StepContext } from '@deadman/domain';
import type { Execution, Executions } from './executions.js';
import type { DatabaseObserver, ObservedDatabase } from './observed-database.js';
import type { Promises } from './promises.js';
import { scriptOf, SNOOZE_MS, STEP } from './sim-handler.js';
import { exactly, waitAfterFailure, waitAfterLapse, wrongCounters } from './waits.js';
import type { Wait } from './waits.js';

/** A rule that did not hold. The names of checks begin with the invariant of `faults.md` that they belong to. */
export interface Violation {
  readonly check: string;
  /** Empty when it is not about one job. */
  readonly jobId: string;
  readonly message: string;
}

export interface WatchedWorld {
  readonly db: ObservedDatabase;
  readonly nowMs: number;
  readonly executions: Executions;
  readonly promises: Promises;
  readonly limits: JobLimits;
  readonly ttlMs: number;
  readonly beatMs: number;
}

/** A claim as it was committed. */
export interface SeenClaim {
  readonly alone: boolean;
  readonly token: string;
  /** By the world's clock, which no failover steps. Milliseconds. */
  readonly atMs: number;
}

/** A job that left an end or a wait, and as what. */
export interface Readied {
  readonly from: JobState;
  readonly attempt: number;
}

/** `protocol.md` §1, written down once more: the code under test must not be what it is judged by. */
const MOVES: Record<JobState, readonly JobState[]> = {
  PENDING: ['RUNNING', 'CANCELLED'],
  SCHEDULED: ['PENDING', 'CANCELLED'],
  FAILED: ['PENDING', 'CANCELLED'],
  RUNNING: ['RUNNING', 'SUCCEEDED', 'FAILED', 'DEAD', 'SCHEDULED', 'PENDING', 'CANCELLED'],
  SUCCEEDED: [],
  DEAD: ['PENDING'],
  CANCELLED: ['PENDING'],
};

/** Looks at every change of a row, every transaction and every call of a handler as it happens. */
export class Invariants implements DatabaseObserver {
  readonly violations: Violation[] = [];
  /** The latest claim of each (job, attempt). After a failover a number may be given out twice. */
  readonly claims = new Map<string, SeenClaim>();
  /** Deaths that were committed and not lost: each has to get its letter. */
  readonly deaths = new Set<string>();
  readonly #exits = new Map<string, number>();
  /** The attempts that began the step of a job. */
  readonly #steps = new Map<string, readonly number[]>();
  readonly #readied = new Map<string, readonly Readied[]>();
  readonly #changed = new Set<string>();
  readonly #world: () => WatchedWorld;
  readonly #onLapse: (job: Job) => void;
  readonly #onViolation: (check: string, message: string) => void;
  #hasFailedOver = false;

  /** @param world asked for late, since the database that is watched is part of it. */
  constructor(
    world: () => WatchedWorld,
    onLapse: (job: Job) => void,
    onViolation: (check: string, message: string) => void,
  ) {
    this.#world = world;
    this.#onLapse = onLapse;
    this.#onViolation = onViolation;
  }

  /** Commits were lost: what was seen of them counts no more, and some of what follows cannot be held against anybody. */
  onFailover(lostDeaths: ReadonlySet<string>, lostExits: ReadonlyMap<string, number>): void {
    this.#hasFailedOver = true;
    this.deaths.clear();
    for (const death of lostDeaths) this.deaths.add(death);
    this.#exits.clear();
    for (const [jobId, count] of lostExits) this.#exits.set(jobId, count);
  }

  /** What `onFailover` goes back to. */
  remember(): { readonly deaths: ReadonlySet<string>; readonly exits: ReadonlyMap<string, number> } {
    return { deaths: new Set(this.deaths), exits: new Map(this.#exits) };
  }

  /** How often and as what this job was made ready, by a person or by its time. */
  readiedOf(jobId: string): readonly Readied[] {
    return this.#readied.get(jobId) ?? [];
  }

  onChange(before: Job | undefined, after: Job): void {
    this.#changed.add(after.id);
    if (before === undefined) return this.#judgeNew(after);
    this.#judgeMove(before, after);
    this.#judgeCounters(before, after);
    if (after.state === 'RUNNING' && before.state !== 'RUNNING') this.#judgeClaim(before, after);
    if (before.state === 'RUNNING' && after.state !== 'RUNNING') this.#judgeEnd(before, after);
    if (after.state === 'SUCCEEDED') this.#judgeSuccess(before, after);
    if (after.state === 'DEAD') this.deaths.add(deathKey(after));
  }

  /** Every move to PENDING and to DEAD has its outbox row in the same transaction (`protocol.md` §4). */
  onCommit(): void {
    const { db } = this.#world();
    const now = db.now().getTime();
    const told = new Set<string>();
    for (const { entry, createdAt } of db.outbox.values()) {
      if (createdAt.getTime() !== now) continue;
      for (const id of entry.kind === 'dead' ? [entry.jobId] : entry.jobIds) told.add(`${entry.kind}/${id}`);
    }
    for (const id of this.#changed) {
      const job = db.jobs.get(id);
      const kind = job?.state === 'PENDING' ? 'ready' : job?.state === 'DEAD' ? 'dead' : null;
      if (kind === null || told.has(`${kind}/${id}`)) continue;
      this.report('G8 outbox row', job!, `became ${job!.state} without an outbox row of the kind '${kind}'`);
    }
    this.#changed.clear();
  }

  /** A handler is called. */
  onStart(execution: Execution): void {
    const { db, executions, nowMs, ttlMs } = this.#world();
    const { jobId, attempt, process, alone } = execution;
    const claim = this.claims.get(`${jobId}/${attempt}`);
    if (claim === undefined) return this.add('G6 start', jobId, `runs attempt ${attempt}, which was never claimed`);
    if (nowMs - claim.atMs > ttlMs) {
      this.add('G6 late start', jobId, `is started ${nowMs - claim.atMs} ms after its claim, of a TTL of ${ttlMs}`);
    }
    const job = db.jobs.get(jobId);
    const isHeld = job?.state === 'RUNNING' && job.attempt === attempt;
    if (!isHeld && !this.#hasFailedOver)
      this.add('G6 start', jobId, `is started at ${attempt} while it is ${job?.state}`);
    const others = executions.atWorkOn(process).filter((other) => other !== execution);
    if (others.some((other) => alone || other.alone)) {
      this.add('§9 alone', jobId, `runs on ${process.name} beside ${others.length} others, from quarantine`);
    }
  }

  /**
   * A handler that was not told to stop fires an effect outside. A worker that was told that no row confirms a run stops it
   * before the next beat. Once nobody has vouched for a run during a TTL, its worker
   * has two beats to notice; a worker that stood still has them from when it stands again.
   */
  onEffect(execution: Execution): void {
    const { executions, nowMs, ttlMs, beatMs } = this.#world();
    const { unconfirmedAtMs } = execution;
    if (unconfirmedAtMs !== null && nowMs > Math.max(unconfirmedAtMs, execution.process.runsSinceMs) + beatMs) {
      this.add('G2 unconfirmed', execution.jobId, `fires an effect at ${execution.attempt}, which no row confirms`);
    }
    this.#judgeTimeout(execution);
    const silenceMs = executions.silenceMs(execution);
    const noticedByMs = Math.max(nowMs - silenceMs + ttlMs, execution.process.runsSinceMs) + 2 * beatMs;
    if (silenceMs > ttlMs && nowMs > noticedByMs) {
      this.add(
        'G2 zombie',
        execution.jobId,
        `fires an effect at attempt ${execution.attempt}, ${silenceMs} ms after its last good renewal`,
      );
    }
  }

  /** A run past its timeout is told to stop (`protocol.md` §6); a worker that stood still has two beats from when it stands. */
  #judgeTimeout({ jobId, attempt, startedAtMs, process }: Execution): void {
    const { db, nowMs, beatMs } = this.#world();
    const job = db.jobs.get(jobId);
    if (job === undefined) return;
    const stoppedByMs = Math.max(startedAtMs + job.timeoutMs, process.runsSinceMs) + 2 * beatMs;
    if (nowMs > stoppedByMs) {
      this.report('§6 timeout', job, `fires an effect at ${attempt}, ${nowMs - startedAtMs} ms after its start`);
    }
  }

  /**
   * A handler begins something under the engine's eyes that cannot be taken back: right before, the run was vouched for
   * within a TTL (`protocol.md` §6).
   */
  onFire(execution: Execution): void {
    const { executions, ttlMs } = this.#world();
    const silenceMs = executions.silenceMs(execution);
    if (silenceMs > ttlMs) {
      this.add(
        'G2 stale',
        execution.jobId,
        `fires at attempt ${execution.attempt}, ${silenceMs} ms after its last renewal`,
      );
    }
  }

  /** What was remembered is not done again, and what may have been done is in doubt (`protocol.md` §7). */
  onStep(execution: Execution, { isInDoubt }: StepContext): void {
    this.onFire(execution);
    const { jobId, attempt } = execution;
    const begun = this.#steps.get(jobId) ?? [];
    this.#steps.set(jobId, [...begun, attempt]);
    if (this.#hasFailedOver) return;
    const isKept = typeof this.#world().db.steps.get(jobId)?.get(STEP)?.value === 'string';
    if (isKept) this.add('G2 step', jobId, `does at attempt ${attempt} what it remembers to have done`);
    if (begun.length > 0 && !isInDoubt)
      this.add('§7 doubt', jobId, `does at attempt ${attempt} what ${begun.at(-1)} began`);
  }

  /** A change commits behind the fence of the run that made it. */
  onEffectCommitted(jobId: string, value: string): void {
    const { executions, db } = this.#world();
    const execution = executions.find(Number(value));
    const job = db.jobs.get(jobId);
    const isHeld =
      execution !== undefined &&
      job?.state === 'RUNNING' &&
      job.attempt === execution.attempt &&
      job.claim?.workerId === execution.incarnation;
    if (!isHeld)
      this.add(
        'G2 fence',
        jobId,
        `has a change of run ${value} committed while it is ${job?.state} at ${job?.attempt}`,
      );
  }

  /**
   * What a change or a step gave to its handler comes from a run of that job (`protocol.md` §7): its own, an earlier one, or a
   * later one when it does not know yet that it is lost.
   */
  onValue({ jobId, attempt }: Execution, what: string, value: unknown): void {
    const from = this.#world().executions.find(Number(value));
    if (from?.jobId === jobId) return;
    this.add('§7 value', jobId, `is given ${JSON.stringify(value)} by its ${what} at attempt ${attempt}`);
  }

  report(check: string, job: Job, message: string): void {
    this.add(check, job.id, message);
  }

  add(check: string, jobId: string, message: string): void {
    this.violations.push({ check, jobId, message });
    this.#onViolation(check, message);
  }

  #judgeNew(job: Job): void {
    const isFirstState = job.state === 'PENDING' || job.state === 'SCHEDULED';
    if (!isFirstState || job.attempt !== 0) this.report('§1 first state', job, `begins as ${job.state}`);
    const { delayMs } = scriptOf(job);
    this.#judgeWait('§10 due', job, delayMs === 0 ? 'PENDING' : 'SCHEDULED', exactly(delayMs));
  }

  #judgeMove(before: Job, after: Job): void {
    if (!MOVES[before.state].includes(after.state)) {
      this.report('§1 moves', after, `went from ${before.state} to ${after.state}`);
    }
    if (isTerminal(before.state)) this.#judgeExit(before, after);
    if (after.state === 'PENDING' && before.state !== 'RUNNING') this.#noteReady(before);
    const mayGoOn = ['RUNNING', 'SUCCEEDED', 'CANCELLED'].includes(after.state);
    if (before.state === 'RUNNING' && before.cancelRequestedAt !== null && !mayGoOn) {
      this.report('§1 cancel', after, `became ${after.state} although a cancel was asked for`);
    }
    const { db } = this.#world();
    if ((before.state === 'SCHEDULED' || before.state === 'FAILED') && after.state === 'PENDING') {
      const isEarly = before.scheduledFor > db.now() && this.#world().promises.retriesOf(after.id) === 0;
      if (isEarly) this.report('§10 early', after, 'became ready before its time');
    }
  }

  /** Somebody, or its time, made it ready although it had ended or waited. */
  #noteReady(before: Job): void {
    const ready = this.#readied.get(before.id) ?? [];
    this.#readied.set(before.id, [...ready, { from: before.state, attempt: before.attempt }]);
  }

  #judgeExit(before: Job, after: Job): void {
    const exits = (this.#exits.get(after.id) ?? 0) + 1;
    this.#exits.set(after.id, exits);
    if (exits > this.#world().promises.retriesOf(after.id)) {
      this.report('G3 terminal', after, `went from ${before.state} to ${after.state} though nobody retried it`);
    }
  }

  #judgeCounters(before: Job, after: Job): void {
    const isClaim = before.state !== 'RUNNING' && after.state === 'RUNNING';
    if (after.attempt !== before.attempt + (isClaim ? 1 : 0)) {
      this.report('G4 attempts', after, `went from attempt ${before.attempt} to ${after.attempt}`);
    }
    if (before.state === 'RUNNING' && after.state === 'RUNNING' && before.claim?.token !== after.claim?.token) {
      this.report('G6 token', after, 'changed hands while it ran');
    }
    const wrong = wrongCounters(before, after);
    if (wrong.length > 0)
      this.report('§2 counters', after, `went from ${before.state} to ${after.state} with ${wrong.join(', ')}`);
    if (isTerminal(before.state) && after.cancelRequestedAt !== null) {
      this.report('§1 cancel', after, 'starts over with the cancel that was asked of it before');
    }
  }

  #judgeClaim(before: Job, after: Job): void {
    const { nowMs, limits, db } = this.#world();
    const worker = db.workers.get(after.claim!.workerId);
    if (worker?.types.includes(after.type) === false) {
      this.report('§5 types', after, 'was claimed by a worker that has no handler for it');
    }
    if (worker?.queues.includes(after.queue) === false) {
      this.report('§5 queues', after, 'was claimed by a worker that does not serve its queue');
    }
    this.claims.set(`${after.id}/${after.attempt}`, {
      token: after.claim!.token,
      alone: after.claim!.alone,
      atMs: nowMs,
    });
    if (before.lapsesInRow >= limits.quarantineFrom && !after.claim!.alone) {
      this.report('§9 quarantine', after, `was claimed among others after ${before.lapsesInRow} lapses in a row`);
    }
  }

  #judgeEnd(before: Job, after: Job): void {
    if (after.lapses > before.lapses) this.#onLapse(before);
    // A cancel ends it, whatever else would have come. Whether it may be DEAD, G5 asks in the end.
    if (after.state === 'CANCELLED' || after.state === 'DEAD') return;
    if (after.failures > before.failures) return this.#judgeWait('§13 retry', after, 'FAILED', waitAfterFailure(after));
    if (after.lapses > before.lapses) return this.#judgeLapse(after);
    if (after.snoozes > before.snoozes) return this.#judgeSnooze(after);
    if (after.state !== 'SUCCEEDED') this.#judgeWait('§7 release', after, 'PENDING', exactly(0));
  }

  #judgeSnooze(after: Job): void {
    const isSpent = after.snoozes > this.#world().limits.maxSnoozes;
    this.#judgeWait('§13 snooze', after, 'SCHEDULED', isSpent ? null : exactly(SNOOZE_MS));
  }

  #judgeLapse(after: Job): void {
    const { limits } = this.#world();
    if (after.crashes >= limits.crashBudget) return this.#judgeWait('§9 crashes', after, 'DEAD', null);
    const wait = waitAfterLapse(after, limits);
    this.#judgeWait('§9 wait', after, wait === null ? 'PENDING' : 'SCHEDULED', wait ?? exactly(0));
  }

  #judgeWait(check: string, after: Job, state: JobState, wait: Wait | null): void {
    const waitsMs = after.scheduledFor.getTime() - this.#world().db.now().getTime();
    const isRight = wait !== null && after.state === state && waitsMs >= wait.leastMs && waitsMs <= wait.mostMs;
    if (isRight) return;
    const right = wait === null ? 'has to be DEAD' : `has to be ${state} for ${wait.leastMs} to ${wait.mostMs} ms`;
    this.report(check, after, `is ${after.state} for ${waitsMs} ms and ${right}`);
  }

  /** The row of a success says which call of a handler it comes from. */
  #judgeSuccess(before: Job, after: Job): void {
    const execution = this.#world().executions.find(Number(after.result));
    const isItsOwn =
      execution !== undefined &&
      execution.hasReturned &&
      execution.jobId === after.id &&
      execution.attempt === before.attempt &&
      execution.incarnation === before.claim?.workerId;
    if (!isItsOwn)
      this.report(
        'G6 success',
        after,
        `succeeded at attempt ${before.attempt} with the result ${after.result} of another run`,
      );
  }
}

export function deathKey({ id, attempt }: Pick<Job, 'id' | 'attempt'>): string {
  return `${id}/${attempt}`;
}
