import { DeadmanError, isDeadmanError, Transition, transition } from '@deadman/domain';
import type { DeadLetter, JobState, JobStore, JobView, Rules } from '@deadman/domain';
import type { Publisher } from './publisher.js';

export interface JobCommandsDeps {
  readonly store: JobStore;
  readonly publisher: Publisher;
  readonly rules: Rules;
}

/** There is no such job, or no such dead letter. */
interface Unknown {
  readonly kind: 'unknown';
}

/**
 * `cancelled`  it has ended CANCELLED.
 * `asked`      it runs; the cancel is under way. It ends CANCELLED or SUCCEEDED and never runs again.
 * `finished`   it had ended otherwise.
 */
export type CancelAnswer = { readonly kind: 'cancelled' | 'asked' | 'finished'; readonly job: JobView } | Unknown;

export type RetryAnswer = { readonly kind: 'ready' | 'not-retryable'; readonly job: JobView } | Unknown;

/** `superseded`: the job is no longer dead at the attempt that the letter tells of. */
export type RedriveAnswer = RetryAnswer | { readonly kind: 'superseded'; readonly letter: DeadLetter };

/**
 * What the writes of one command have done so far.
 *
 * `nothing`  none has changed the row.
 * `maybe`    one was lost on the way, or its reply was; `job` is the row as it was before.
 * `done`     one has changed the row, to `state`.
 */
type Past =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'maybe'; readonly job: JobView }
  | { readonly kind: 'done'; readonly state: JobState };

/** Writes of one command before it gives up: each is refused only because the job moved in the time of one round trip. */
const MOST_WRITES = 10;

/**
 * What people ask of a job. Each command reads the row, lets `transition` decide, writes by compare-and-set on the version
 * it read, and reads again: the answer is what the row says afterwards, whoever else was at it (`protocol.md` §11).
 *
 * All throw what `JobStore` throws. After `unknown-outcome` the change may have happened; each command may be repeated.
 */
export class JobCommands {
  readonly #deps: JobCommandsDeps;

  constructor(deps: JobCommandsDeps) {
    this.#deps = deps;
  }

  /** Asks for the job to end. */
  cancel(jobId: string): Promise<CancelAnswer> {
    return this.#carryOut<CancelAnswer>(jobId, (job, past) => this.#decideCancel(job, past));
  }

  /** DEAD and CANCELLED start over with all budgets; FAILED and SCHEDULED run now. */
  retry(jobId: string): Promise<RetryAnswer> {
    return this.#carryOut<RetryAnswer>(jobId, (job, past) => this.#decideRetry(job, past));
  }

  /** Retries the job of a dead letter, as long as that death is its latest news. */
  async redrive(deadLetterId: string): Promise<RedriveAnswer> {
    const letter = await this.#deps.store.findDeadLetter(deadLetterId);
    if (letter === null) return { kind: 'unknown' };
    return this.#carryOut<RedriveAnswer>(letter.jobId, (job, past) => {
      const isThatDeath = job.state === 'DEAD' && job.attempt === letter.attempt;
      return isThatDeath || hasLeft(job, past) ? this.#decideRetry(job, past) : { kind: 'superseded', letter };
    });
  }

  #decideCancel(job: JobView, past: Past): Transition | CancelAnswer {
    if (job.state === 'CANCELLED') return { kind: 'cancelled', job };
    if (job.state === 'RUNNING' && job.cancelRequestedAt !== null) return { kind: 'asked', job };
    const wanted = transition(job, { kind: 'cancel' }, this.#deps.rules);
    if (!(wanted instanceof Transition)) return { kind: 'finished', job };
    if (past.kind !== 'done') return wanted;
    // Somebody retried the job after our write had ended it: that is not for this command to undo.
    return { kind: past.state === 'CANCELLED' ? 'cancelled' : 'asked', job };
  }

  #decideRetry(job: JobView, past: Past): Transition | RetryAnswer {
    if (hasLeft(job, past)) return { kind: 'ready', job };
    const wanted = transition(job, { kind: 'retry' }, this.#deps.rules);
    return wanted instanceof Transition ? wanted : { kind: 'not-retryable', job };
  }

  async #carryOut<Answer>(
    jobId: string,
    decide: (job: JobView, past: Past) => Transition | Answer,
  ): Promise<Answer | Unknown> {
    let past: Past = { kind: 'nothing' };
    try {
      for (let writes = 0; ; writes += 1) {
        const job = await this.#deps.store.findJob(jobId);
        if (job === null) return { kind: 'unknown' };
        const next = decide(job, past);
        if (!(next instanceof Transition)) return next;
        if (writes === MOST_WRITES) throw new DeadmanError('transaction-conflict', 'The job changes too fast');
        past = await this.#write(job, next, past);
      }
    } catch (cause) {
      throw past.kind === 'nothing' ? cause : mayHaveHappened(cause);
    }
  }

  /** Repeating a write whose outcome is unknown is safe: both carry a version, and only one write finds it. */
  async #write(job: JobView, wanted: Transition, past: Past): Promise<Past> {
    const { store, publisher } = this.#deps;
    try {
      const { results, outbox } = await store.apply([wanted]);
      // Not awaited: the answer does not wait for the transport, and the relay sends what this one does not.
      void publisher.send(outbox);
      const [result] = results;
      return result?.kind === 'applied' ? { kind: 'done', state: result.state } : past;
    } catch (error) {
      if (isDeadmanError(error, 'transaction-conflict')) return past;
      if (isDeadmanError(error, 'unknown-outcome')) return past.kind === 'maybe' ? past : { kind: 'maybe', job };
      throw error;
    }
  }
}

/**
 * Whether a retry need not be written (again): it was, or it may have been and the job is on its way, has run, or was
 * cancelled since. Whose write it was cannot be told and does not matter; a second one would start over what has just
 * begun, or undo a cancel that was answered.
 */
function hasLeft(job: JobView, past: Past): boolean {
  if (past.kind === 'done') return true;
  if (past.kind === 'nothing') return false;
  const isCancelledSince = job.state === 'CANCELLED' && job.version > past.job.version;
  return isCancelledSince || job.attempt > past.job.attempt || ['PENDING', 'RUNNING', 'SUCCEEDED'].includes(job.state);
}

/** Whatever failed last, an earlier write of the same command may have been stored, and its caller has to know. */
function mayHaveHappened(cause: unknown): unknown {
  if (isDeadmanError(cause)) return new DeadmanError('unknown-outcome', undefined, { cause });
  return cause;
}
