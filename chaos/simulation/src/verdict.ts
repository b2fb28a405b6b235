import { isTerminal } from '@deadman/domain';
import type { AttemptRecord, Job, JobLimits } from '@deadman/domain';
import type { Invariants, WatchedWorld } from './invariants.js';
import { scriptOf } from './sim-handler.js';
import { waitAfterFailure } from './waits.js';

/** What clients submitted together, and what was asked of them. */
export interface SubmittedBatch {
  readonly keys: readonly string[];
}

/** Judges a world in which all faults are over and all work is done. */
export class Verdict {
  readonly #world: WatchedWorld;
  readonly #invariants: Invariants;

  constructor(world: WatchedWorld, invariants: Invariants) {
    this.#world = world;
    this.#invariants = invariants;
  }

  judge(batches: readonly SubmittedBatch[], hasFailedOver: boolean): void {
    this.#judgeAccepted();
    this.#judgeKeys(batches);
    for (const job of this.#world.db.jobs.values()) {
      this.#judgeHistory(job);
      this.#judgeDeath(job);
      this.#judgeEffects(job);
      this.#judgeCancel(job);
      if (!hasFailedOver) this.#judgeFailures(job);
    }
    this.#judgeLetters();
    this.#judgeOutbox();
  }

  #judgeAccepted(): void {
    const { promises, db } = this.#world;
    for (const jobId of promises.accepted) {
      if (!db.jobs.has(jobId)) this.#invariants.add('G1 lost', jobId, 'was accepted and is gone');
    }
    for (const job of db.jobs.values()) {
      if (!isTerminal(job.state)) this.#invariants.report('G9 ends', job, `is still ${job.state}`);
    }
  }

  /** One job per key, and of a batch all or none. */
  #judgeKeys(batches: readonly SubmittedBatch[]): void {
    const { db } = this.#world;
    const ofKey = new Map<string, Job>();
    for (const job of db.jobs.values()) {
      if (job.idempotencyKey === null) continue;
      if (ofKey.has(job.idempotencyKey)) this.#invariants.report('G1 key', job, 'is the second job of its key');
      ofKey.set(job.idempotencyKey, job);
    }
    for (const { keys } of batches) {
      const stored = keys.filter((key) => ofKey.has(key));
      if (stored.length !== 0 && stored.length !== keys.length) {
        this.#invariants.report(
          'G1 batch',
          ofKey.get(stored[0]!)!,
          `is one of ${stored.length} stored of ${keys.length}`,
        );
      }
    }
  }

  #judgeHistory(job: Job): void {
    const history = this.#historyOf(job);
    const numbers = history.map(({ attempt }) => attempt);
    if (new Set(numbers).size !== numbers.length) this.#report('G2 outcomes', job, 'has two outcomes for one attempt');
    const successes = history.filter(({ outcome }) => outcome === 'succeeded').length;
    if (successes !== (job.state === 'SUCCEEDED' ? 1 : 0)) {
      this.#report('G2 outcomes', job, `is ${job.state} with ${successes} successes`);
    }
    if (isTerminal(job.state) && numbers.length !== job.attempt) {
      this.#report('G4 attempts', job, `has ${numbers.length} history rows for ${job.attempt} attempts`);
    }
    for (const { attempt, claimToken } of history) {
      const claim = this.#invariants.claims.get(`${job.id}/${attempt}`);
      if (claim?.token !== claimToken) this.#report('G6 token', job, `was settled at ${attempt} by an earlier claim`);
    }
  }

  #judgeDeath(job: Job): void {
    if (job.state !== 'DEAD') return;
    const { limits } = this.#world;
    const reason = this.#historyOf(job).find(({ attempt }) => attempt === job.attempt)?.reason ?? 'none';
    const isEarned = isDeathOf(job, reason, limits);
    if (!isEarned) this.#report('G5 death', job, `died of '${reason}' with ${job.failures} failures`);
    if (reason === 'crash-loop' && !scriptOf(job).isPoison) {
      this.#report('G5 neighbour', job, `was blamed for ${job.crashes} crashes of others`);
    }
  }

  /** The ledger has no unique key: how often a change fired is what it says (`faults.md` G2). */
  #judgeEffects(job: Job): void {
    const { db } = this.#world;
    const { changeMs, hasChild, parent } = scriptOf(job);
    const isDue = job.state === 'SUCCEEDED' && changeMs !== null;
    const fired = db.statements.filter(({ jobId }) => jobId === job.id).length;
    const children = [...db.jobs.values()].filter((other) => other.id !== job.id && scriptOf(other).parent === job.id);
    if (fired > 1 || (isDue && fired !== 1)) this.#report('G2 effect', job, `is ${job.state} and fired ${fired} times`);
    if (children.length !== (hasChild ? fired : 0)) {
      this.#report('G2 child', job, `has ${children.length} children, and fired ${fired} times`);
    }
    if (parent !== null && !db.jobs.has(parent)) this.#report('G2 child', job, 'has no parent');
  }

  /** Failures are what handlers said, and nothing else. */
  #judgeFailures(job: Job): void {
    if (this.#world.promises.retriesOf(job.id) > 0) return;
    const said = this.#historyOf(job).filter(({ error }) => error !== null).length;
    if (job.failures !== said) this.#report('§2 failures', job, `has ${job.failures} failures, and ${said} were told`);
  }

  #judgeCancel(job: Job): void {
    const promise = this.#world.promises.cancels.get(job.id);
    if (promise === undefined) return;
    const mayBe = { cancelled: ['CANCELLED'], asked: ['CANCELLED', 'SUCCEEDED'], finished: ['SUCCEEDED', 'DEAD'] };
    if (!mayBe[promise.answer].includes(job.state) || job.attempt !== promise.attempt) {
      const was = `was answered '${promise.answer}' at attempt ${promise.attempt}`;
      this.#report('§11 cancel kept', job, `${was} and is ${job.state} at ${job.attempt}`);
    }
  }

  /** One letter per death, whatever became of the job since. */
  #judgeLetters(): void {
    const { db } = this.#world;
    for (const death of this.#invariants.deaths) {
      const [jobId] = death.split('/') as [string, string];
      if (!db.deadLetters.has(death)) this.#invariants.add('§12 letter', jobId, `has no dead letter of ${death}`);
    }
    for (const [death, { jobId }] of db.deadLetters) {
      if (!this.#invariants.deaths.has(death))
        this.#invariants.add('§12 letter', jobId, `has a dead letter of ${death}`);
    }
  }

  #judgeOutbox(): void {
    for (const { entry } of this.#world.db.outbox.values()) {
      const jobId = entry.kind === 'dead' ? entry.jobId : (entry.jobIds[0] ?? '');
      this.#invariants.add('G8 outbox', jobId, `has an outbox row (${entry.kind}) that nobody sent`);
    }
  }

  #historyOf(job: Job): readonly AttemptRecord[] {
    return this.#world.db.attempts.get(job.id) ?? [];
  }

  #report(check: string, job: Job, message: string): void {
    this.#invariants.report(check, job, message);
  }
}

/** Whether a job that is DEAD has earned it, by the reason that its history tells (`faults.md` G5). */
function isDeathOf(job: Job, reason: string, { crashBudget, maxSnoozes }: JobLimits): boolean {
  switch (reason) {
    case 'exhausted':
      return waitAfterFailure(job) === null;
    case 'non-retryable':
      return scriptOf(job).wish === 'dead';
    case 'crash-loop':
      return job.crashes >= crashBudget;
    case 'snooze-limit':
      return job.snoozes > maxSnoozes;
    default:
      return false;
  }
}
