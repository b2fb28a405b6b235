import { isTerminal } from '@deadman/domain';
import type { Job, JobLimits } from '@deadman/domain';
import type { DatabaseObserver, ObservedDatabase } from './observed-database.js';

/** A rule of `faults.md` that did not hold. */
export interface Violation {
  readonly check: string;
  readonly jobId: string;
  readonly message: string;
}

/** What a client was promised about a cancel: from here on the job does not run again. */
interface CancelPromise {
  readonly attempt: number;
  readonly answer: 'cancelled' | 'asked';
}

/** What clients were told, against which the end is judged. */
export class Promises {
  /** Ids that a client was told are stored. */
  readonly accepted = new Set<string>();
  readonly cancels = new Map<string, CancelPromise>();
  readonly #retries = new Map<string, number>();

  /** A person asked for a retry, whether it was answered or not. */
  allowRetry(jobId: string): void {
    this.#retries.set(jobId, (this.#retries.get(jobId) ?? 0) + 1);
    this.cancels.delete(jobId);
  }

  wasRetried(jobId: string): boolean {
    return this.#retries.has(jobId);
  }
}

const DEATHS = ['exhausted', 'non-retryable', 'crash-loop', 'snooze-limit'];

/** Looks at every change of a row as it happens (G3, G4, G6), and at everything when all is quiet (G1, G5, G8, G9). */
export class Invariants implements DatabaseObserver {
  readonly violations: Violation[] = [];
  readonly #promises: Promises;
  readonly #onLapse: (job: Job) => void;

  constructor(promises: Promises, onLapse: (job: Job) => void) {
    this.#promises = promises;
    this.#onLapse = onLapse;
  }

  onChange(before: Job | undefined, after: Job): void {
    if (before === undefined) return;
    if (before.state === 'SUCCEEDED') this.#report('G3 terminal', after, 'left SUCCEEDED');
    if (isTerminal(before.state) && !this.#promises.wasRetried(after.id)) {
      this.#report('G3 terminal', after, `went from ${before.state} to ${after.state} though nobody retried it`);
    }
    const isClaim = before.state === 'PENDING' && after.state === 'RUNNING';
    if (after.attempt !== before.attempt + (isClaim ? 1 : 0)) {
      this.#report('G4 attempts', after, `went from attempt ${before.attempt} to ${after.attempt}`);
    }
    if (before.state === 'RUNNING' && after.state === 'RUNNING' && before.claim?.token !== after.claim?.token) {
      this.#report('G6 token', after, 'changed hands while it ran');
    }
    if (after.lapses > before.lapses) this.#onLapse(before);
  }

  /** Everything that has to hold once all faults are over and all work is done. */
  judge(db: ObservedDatabase, limits: JobLimits): void {
    for (const jobId of this.#promises.accepted) {
      const job = db.jobs.get(jobId);
      if (job === undefined) this.#add('G1 lost', jobId, 'was accepted and is gone');
      else if (!isTerminal(job.state)) this.#report('G9 ends', job, `is still ${job.state}`);
    }
    for (const job of db.jobs.values()) {
      this.#judgeHistory(job, db);
      this.#judgeDeath(job, db, limits);
      this.#judgeCancel(job);
    }
    for (const { entry } of db.outbox.values()) {
      const jobId = entry.kind === 'dead' ? entry.jobId : (entry.jobIds[0] ?? '');
      this.#add('G8 outbox', jobId, `has an outbox row (${entry.kind}) that nobody sent`);
    }
  }

  #judgeHistory(job: Job, db: ObservedDatabase): void {
    const history = db.attempts.get(job.id) ?? [];
    const numbers = history.map(({ attempt }) => attempt);
    if (new Set(numbers).size !== numbers.length) this.#report('G2 outcomes', job, 'has two outcomes for one attempt');
    const successes = history.filter(({ outcome }) => outcome === 'succeeded').length;
    if (successes !== (job.state === 'SUCCEEDED' ? 1 : 0)) {
      this.#report('G2 outcomes', job, `is ${job.state} with ${successes} successes`);
    }
    if (isTerminal(job.state) && numbers.length !== job.attempt) {
      this.#report('G4 attempts', job, `has ${numbers.length} history rows for ${job.attempt} attempts`);
    }
  }

  #judgeDeath(job: Job, db: ObservedDatabase, limits: JobLimits): void {
    if (job.state !== 'DEAD') return;
    const last = db.attempts.get(job.id)?.find(({ attempt }) => attempt === job.attempt);
    const reason = last?.reason ?? 'none';
    const isEarned =
      reason === 'exhausted'
        ? job.failures >= job.maxAttempts || job.retry.kind === 'none'
        : reason === 'crash-loop'
          ? job.crashes >= limits.crashBudget
          : DEATHS.includes(reason);
    if (!isEarned) this.#report('G5 death', job, `died of '${reason}' with ${job.failures} failures`);
    const letters = [...db.deadLetters.values()].filter(
      (letter) => letter.jobId === job.id && letter.attempt === job.attempt,
    );
    if (letters.length !== 1) this.#report('G5 dead letter', job, `has ${letters.length} dead letters`);
  }

  #judgeCancel(job: Job): void {
    const promise = this.#promises.cancels.get(job.id);
    if (promise === undefined) return;
    const isKept = job.state === 'CANCELLED' || (promise.answer === 'asked' && job.state === 'SUCCEEDED');
    if (!isKept || job.attempt !== promise.attempt) {
      this.#report(
        'cancel kept',
        job,
        `was ${promise.answer} at attempt ${promise.attempt} and is ${job.state} at ${job.attempt}`,
      );
    }
  }

  #report(check: string, job: Job, message: string): void {
    this.#add(check, job.id, message);
  }

  #add(check: string, jobId: string, message: string): void {
    this.violations.push({ check, jobId, message });
  }
}
