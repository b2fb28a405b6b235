import type { AttemptOutcome, JobEvent, JobLimits, JobState } from '@deadman/domain';

/** Short budgets, so that short histories reach every end, and delays that never run out by themselves during a test. */
export const MODEL_LIMITS: JobLimits = {
  quarantineFrom: 3,
  quarantineBaseMs: 60_000,
  quarantineMaxMs: 60_000,
  crashBudget: 2,
  maxSnoozes: 2,
  minSnoozeMs: 60_000,
};

export const MODEL_ATTEMPTS = 3;

/** How an attempt ended. */
export interface ModelEnd {
  readonly token: string;
  readonly outcome: AttemptOutcome;
  readonly reason: string | null;
  readonly reclaimedBy: string | null;
}

/** A job as the model has it: what the rules of `protocol.md` §1 and §2 say about it, and no more. */
export interface ModelJob {
  readonly id: string;
  readonly key: string | null;
  state: JobState;
  version: number;
  attempt: number;
  failures: number;
  lapses: number;
  lapsesInRow: number;
  crashes: number;
  snoozes: number;
  token: string | null;
  isAlone: boolean;
  isCancelAsked: boolean;
  /** The tick from which it is due. A tick is longer than any delay. */
  dueAt: number;
  readonly ends: Map<number, ModelEnd>;
}

/** What is in an outbox row, as `told` writes it. */
type Told = string;

/** Everything that a store should have. */
export class StoreModel {
  readonly jobs: ModelJob[] = [];
  readonly outbox: Told[] = [];
  /** By job and attempt. */
  readonly unrecorded = new Set<string>();
  readonly letters = new Set<string>();
  tick = 0;

  add(id: string, key: string | null, isLater: boolean): ModelJob {
    const job: ModelJob = {
      id,
      key,
      state: isLater ? 'SCHEDULED' : 'PENDING',
      version: 1,
      attempt: 0,
      failures: 0,
      lapses: 0,
      lapsesInRow: 0,
      crashes: 0,
      snoozes: 0,
      token: null,
      isAlone: false,
      isCancelAsked: false,
      dueAt: this.tick + (isLater ? 1 : 0),
      ends: new Map(),
    };
    this.jobs.push(job);
    return job;
  }

  ofKey(key: string): ModelJob | undefined {
    return this.jobs.find((job) => job.key === key);
  }

  /** One row per call and queue for what it made ready, and one per death. */
  tell(changed: readonly ModelJob[]): void {
    const ready = changed.filter(({ state }) => state === 'PENDING').map(({ id }) => id);
    if (ready.length > 0) this.outbox.push(`ready default ${ready.toSorted().join(' ')}`);
    for (const { id, attempt, state } of changed) {
      if (state !== 'DEAD') continue;
      this.outbox.push(`dead ${id} ${attempt}`);
      this.unrecorded.add(`${id} ${attempt}`);
    }
  }

  claim(job: ModelJob, token: string, alone: boolean): void {
    Object.assign(job, { state: 'RUNNING', attempt: job.attempt + 1, token, isAlone: alone, version: job.version + 1 });
  }

  isClaimable(job: ModelJob, alone: boolean): boolean {
    return job.state === 'PENDING' && job.lapsesInRow >= MODEL_LIMITS.quarantineFrom === alone;
  }

  isDue(job: ModelJob): boolean {
    return (job.state === 'SCHEDULED' || job.state === 'FAILED') && job.dueAt <= this.tick;
  }

  /** Ends the attempt under way, or asks a running job to end, or starts an ended one over. */
  apply(job: ModelJob, event: JobEvent): void {
    const end = endOf(job, event);
    if (end !== null) job.ends.set(job.attempt, end);
    const isAsked = job.isCancelAsked;
    this.#change(job, event);
    if (end !== null && isAsked && job.state !== 'SUCCEEDED') job.state = 'CANCELLED';
    if (job.state !== 'RUNNING') job.token = null;
    job.version += 1;
  }

  #change(job: ModelJob, event: JobEvent): void {
    switch (event.kind) {
      case 'succeed':
        return void Object.assign(job, { state: 'SUCCEEDED', lapsesInRow: 0, crashes: 0 });
      case 'fail': {
        const failures = job.failures + 1;
        const isOver = !event.retryable || failures >= MODEL_ATTEMPTS;
        Object.assign(job, { state: isOver ? 'DEAD' : 'FAILED', failures, lapsesInRow: 0, crashes: 0 });
        return void (job.dueAt = this.tick + 1);
      }
      case 'snooze': {
        const snoozes = job.snoozes + 1;
        const isOver = snoozes > MODEL_LIMITS.maxSnoozes;
        Object.assign(job, { state: isOver ? 'DEAD' : 'SCHEDULED', snoozes, lapsesInRow: 0, crashes: 0 });
        return void (job.dueAt = this.tick + 1);
      }
      case 'release':
        return void Object.assign(job, { state: 'PENDING', dueAt: this.tick });
      case 'lapse':
        return this.#lapse(job);
      case 'cancelled':
        return void (job.state = 'CANCELLED');
      case 'cancel':
        if (job.state !== 'RUNNING') job.state = 'CANCELLED';
        return void (job.isCancelAsked = true);
      case 'retry':
        return this.#retry(job);
      default:
        throw new TypeError(`The model does not know '${event.kind}'`);
    }
  }

  #lapse(job: ModelJob): void {
    job.lapses += 1;
    job.lapsesInRow += 1;
    if (job.isAlone) job.crashes += 1;
    const isQuarantined = job.lapsesInRow >= MODEL_LIMITS.quarantineFrom;
    job.state = job.crashes >= MODEL_LIMITS.crashBudget ? 'DEAD' : isQuarantined ? 'SCHEDULED' : 'PENDING';
    job.dueAt = this.tick + (isQuarantined ? 1 : 0);
  }

  /** What waits for its time runs now; what had ended starts over. */
  #retry(job: ModelJob): void {
    if (job.state === 'DEAD' || job.state === 'CANCELLED') {
      Object.assign(job, { failures: 0, lapses: 0, lapsesInRow: 0, crashes: 0, snoozes: 0, isCancelAsked: false });
    }
    Object.assign(job, { state: 'PENDING', dueAt: this.tick });
  }
}

/** The history row that an event leaves, null when it ends no attempt. */
export function endOf(job: ModelJob, event: JobEvent): ModelEnd | null {
  if (job.state !== 'RUNNING' || job.token === null || event.kind === 'cancel') return null;
  const { outcome, reason } = outcomeOf(job, event);
  const reclaimedBy = event.kind === 'lapse' ? event.reclaimedBy : null;
  const isCancelled = job.isCancelAsked && outcome !== 'succeeded';
  return { token: job.token, outcome: isCancelled ? 'cancelled' : outcome, reason, reclaimedBy };
}

export function outcomeOf(
  job: Pick<ModelJob, 'failures' | 'snoozes' | 'crashes' | 'isAlone'>,
  event: JobEvent,
): Pick<ModelEnd, 'outcome' | 'reason'> {
  switch (event.kind) {
    case 'succeed':
      return { outcome: 'succeeded', reason: null };
    case 'fail': {
      const isExhausted = job.failures + 1 >= MODEL_ATTEMPTS;
      return { outcome: 'failed', reason: !event.retryable ? 'non-retryable' : isExhausted ? 'exhausted' : null };
    }
    case 'snooze':
      return { outcome: 'snoozed', reason: job.snoozes + 1 > MODEL_LIMITS.maxSnoozes ? 'snooze-limit' : null };
    case 'release':
      return { outcome: 'released', reason: event.reason };
    case 'lapse': {
      const crashes = job.crashes + (job.isAlone ? 1 : 0);
      return { outcome: 'lapsed', reason: crashes >= MODEL_LIMITS.crashBudget ? 'crash-loop' : event.reason };
    }
    case 'cancelled':
      return { outcome: 'cancelled', reason: null };
    default:
      throw new TypeError(`The model does not know '${event.kind}'`);
  }
}
