import { DeadmanError, isDeadmanError, NO_FAILPOINTS } from '@deadman/domain';
import type { Clock, EngineEvents, Failpoints, JobStore, Submission, Submitted } from '@deadman/domain';
import { bisect } from './bisect.js';
import { MicroBatcher } from './micro-batcher.js';
import type { Answer, BatchOptions } from './micro-batcher.js';
import type { Publisher } from './publisher.js';
import { UnderWay } from './under-way.js';

export interface SubmitterDeps {
  readonly store: JobStore;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly events: EngineEvents;
  /** Default: none. */
  readonly failpoints?: Failpoints;
}

export interface SubmitOptions extends BatchOptions {
  /** How often a batch of unknown outcome is looked up and repeated before its callers are told. */
  readonly tries: number;
  /** Wait before the second try; doubles. Milliseconds. */
  readonly retryMs: number;
}

/**
 * `protocol.md` §13. Twenty batches may wait, which is about a second of work: more would answer nobody in time. A job
 * weighs as much as its payload, in UTF-16 units: the largest payloads go by sixteen and not by 500, and 256 of them wait.
 */
const DEFAULTS: SubmitOptions = {
  maxBatch: 500,
  maxBatchWeight: 4 * 2 ** 20,
  maxWaiting: 10_000,
  maxWaitingWeight: 64 * 2 ** 20,
  lingerMs: 5,
  concurrency: 2,
  keepsEven: true,
  tries: 4,
  retryMs: 50,
};

/**
 * Takes jobs in. Concurrent single submits share a transaction, and a promise resolves after COMMIT only. What has to be
 * sent is sent after the answer, since the job's safety does not hang on it (`protocol.md` §3).
 */
export class Submitter {
  readonly #deps: SubmitterDeps;
  readonly #options: SubmitOptions;
  readonly #batcher: MicroBatcher<Submission, Submitted>;
  /** What atomic batches hold, which wait for no company and are bounded like what does. */
  #atomicJobs = 0;
  #atomicWeight = 0;
  #isClosed = false;
  readonly #underWay = new UnderWay();

  constructor(deps: SubmitterDeps, options: Partial<SubmitOptions> = {}) {
    this.#deps = deps;
    this.#options = { ...DEFAULTS, ...options };
    this.#batcher = new MicroBatcher((batch) => this.#flush(batch), this.#options, deps.clock, weightOf);
  }

  /**
   * Stores one job, or finds the one that has its key.
   *
   * @throws DeadmanError `overloaded`, `shutting-down`, `store-unavailable`, `statement-timeout`, `data-rejected`: not
   * stored. `unknown-outcome`: it may be stored; repeating the same submission is safe.
   */
  submit(submission: Submission): Promise<Submitted> {
    if (!this.#batcher.hasRoomFor(submission)) return Promise.reject(this.#overloaded(1));
    return this.#batcher.add(submission);
  }

  /** Stores all of a batch in one transaction, or none. Throws what `submit` throws. */
  async submitAtomic(batch: readonly Submission[]): Promise<readonly Submitted[]> {
    if (this.#isClosed) throw new DeadmanError('shutting-down');
    const weight = batch.reduce((sum, submission) => sum + weightOf(submission), 0);
    if (!this.#hasRoomFor(batch.length, weight)) throw this.#overloaded(batch.length);
    this.#atomicJobs += batch.length;
    this.#atomicWeight += weight;
    try {
      return await this.#underWay.track(this.#store(batch));
    } finally {
      this.#atomicJobs -= batch.length;
      this.#atomicWeight -= weight;
    }
  }

  /** Takes nothing more; resolves when all that was taken is answered and what it had to say was sent or left to the relay. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#batcher.close();
    await this.#underWay.settled();
    await this.#deps.publisher.flush();
  }

  #hasRoomFor(jobs: number, weight: number): boolean {
    const { maxWaiting, maxWaitingWeight = Infinity } = this.#options;
    return this.#atomicJobs + jobs <= maxWaiting && this.#atomicWeight + weight <= maxWaitingWeight;
  }

  #overloaded(count: number): DeadmanError {
    this.#deps.events.emit({ kind: 'submit-rejected', because: 'overloaded', count });
    return new DeadmanError('overloaded');
  }

  /** A value that the database refuses fails its own caller, never the others of the batch. */
  async #flush(batch: readonly Submission[]): Promise<readonly Answer<Submitted>[]> {
    return bisect<Submission, Answer<Submitted>>(
      batch,
      (part) => this.#answer(part),
      (_submission, error) => {
        this.#deps.events.emit({ kind: 'submit-rejected', because: 'data', count: 1 });
        return { error };
      },
    );
  }

  /** Any other error answers this part alone: the other parts of a batch that was halved may be stored by then. */
  async #answer(part: readonly Submission[]): Promise<readonly Answer<Submitted>[]> {
    try {
      return (await this.#store(part)).map((value) => ({ value }));
    } catch (error) {
      if (isDeadmanError(error, 'data-rejected')) throw error;
      return part.map(() => ({ error }));
    }
  }

  async #store(batch: readonly Submission[]): Promise<readonly Submitted[]> {
    const results = await this.#storeForSure(batch);
    const created = results.filter(({ kind }) => kind === 'created').length;
    this.#deps.events.emit({ kind: 'jobs-submitted', created, replayed: results.length - created });
    return results;
  }

  /**
   * Repeats a transaction that met another one or whose outcome is unknown. Repeating is safe because a job is stored
   * once under its id, and because an insert waits for an earlier one of the same id that is still under way.
   */
  async #storeForSure(batch: readonly Submission[]): Promise<readonly Submitted[]> {
    const { store, publisher, failpoints = NO_FAILPOINTS } = this.#deps;
    let mayBeStored = false;
    for (let tried = 1; ; tried += 1) {
      try {
        const { results, outbox } = await store.submit(batch);
        await failpoints.at('after_submit_commit');
        void this.#underWay.track(publisher.send(outbox));
        return results;
      } catch (error) {
        mayBeStored ||= isDeadmanError(error, 'unknown-outcome');
        if (tried >= this.#options.tries || !isRepeatable(error, mayBeStored)) throw honest(error, mayBeStored);
        await this.#deps.clock.sleep(this.#options.retryMs * 2 ** (tried - 1));
      }
    }
  }
}

function weightOf({ job }: Submission): number {
  return job.payload.length;
}

/** After one unknown outcome everything that can be repeated is: the batch's callers are owed a yes or a no. */
function isRepeatable(error: unknown, mayBeStored: boolean): boolean {
  if (mayBeStored) return isDeadmanError(error) && error.retryable;
  return isDeadmanError(error, 'transaction-conflict');
}

/** Whatever failed last: when an earlier try may have been stored, nobody must be told that nothing was changed. */
function honest(error: unknown, mayBeStored: boolean): unknown {
  const saysNothingChanged = isDeadmanError(error) && error.retryable && error.code !== 'unknown-outcome';
  if (!mayBeStored || !saysNothingChanged) return error;
  return new DeadmanError('unknown-outcome', undefined, { cause: error });
}
