import { isUuid } from '@deadman/domain';
import type {
  Clock,
  DeadmanError,
  DeathNotice,
  EngineEvents,
  JobStore,
  Random,
  RecordedDeadLetter,
  Subscription,
  Transport,
} from '@deadman/domain';
import { bisect } from './bisect.js';
import { retryConflicts } from './conflict-retry.js';

export interface DeadLetterRecorderDeps {
  readonly transport: Transport;
  readonly store: JobStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EngineEvents;
}

/** Deaths recorded in one transaction. */
const MOST_PER_BATCH = 500;

/** The largest attempt that the store's column holds. */
const MAX_ATTEMPT = 2 ** 31 - 1;

/**
 * Turns deaths into dead letters, one per (job, attempt) however often a death is told. The outbox row of a death goes in
 * the same transaction as its letter and nowhere else, so that until then the relay tells of it again (`protocol.md` §12).
 */
export class DeadLetterRecorder {
  readonly #deps: DeadLetterRecorderDeps;
  #subscription: Promise<Subscription> | null = null;

  constructor(deps: DeadLetterRecorderDeps) {
    this.#deps = deps;
  }

  /** Throws what the transport throws when it cannot subscribe; then it may be started again. Calling twice does nothing. */
  async start(): Promise<void> {
    this.#subscription ??= this.#deps.transport.consumeDead((deaths) => this.#record(deaths));
    const subscription = this.#subscription;
    try {
      await subscription;
    } catch (error) {
      if (this.#subscription === subscription) this.#subscription = null;
      throw error;
    }
  }

  /** Takes nothing more and waits for the batch under way. */
  async stop(): Promise<void> {
    const subscription = this.#subscription;
    this.#subscription = null;
    await (await subscription?.catch(() => null))?.close();
  }

  /**
   * Throws what the store throws, so that the transport delivers the batch again; what of it was recorded answers `already`
   * then. A message that can never be recorded is counted and done: it must not stop the ones behind it.
   */
  async #record(deaths: readonly DeathNotice[]): Promise<void> {
    const wellFormed = deaths.filter(isWellFormed);
    const distinct = [...new Map(wellFormed.map((death) => [`${death.jobId} ${death.attempt}`, death])).values()];
    for (let start = 0; start < distinct.length; start += MOST_PER_BATCH) {
      await this.#recordBatch(distinct.slice(start, start + MOST_PER_BATCH));
    }
    // Not before the others are recorded: a batch that the store could not take comes again.
    this.#count('malformed', deaths.length - wellFormed.length);
  }

  async #recordBatch(batch: readonly DeathNotice[]): Promise<void> {
    await bisect<DeathNotice, void>(
      batch,
      async (part) => {
        const recorded = await retryConflicts(() => this.#deps.store.recordDeadLetters(part), this.#deps);
        this.#tell(recorded);
        return recorded.map(() => undefined);
      },
      (_death, error) => this.#tellRefused(error),
    );
  }

  #tell(recorded: readonly RecordedDeadLetter[]): void {
    for (const { kind, jobId, attempt, reason } of recorded) {
      if (kind === 'already') this.#count('duplicate', 1);
      else if (kind === 'unknown') this.#count('stale', 1);
      else {
        const superseded = kind === 'superseded';
        this.#deps.events.emit({ kind: 'dead-letter-recorded', jobId, attempt, reason: reason ?? kind, superseded });
      }
    }
  }

  /** Its outbox row stays, so that the relay tells of this death until somebody has looked. */
  #tellRefused(error: DeadmanError): void {
    this.#deps.events.emit({ kind: 'loop-failed', loop: 'dead-letter-recorder', error });
  }

  #count(result: 'malformed' | 'duplicate' | 'stale', count: number): void {
    if (count > 0) this.#deps.events.emit({ kind: 'tickets-handled', result, count });
  }
}

/** Said of messages, whatever their type promises: they come from outside the process. */
function isWellFormed({ jobId, attempt }: DeathNotice): boolean {
  return (
    typeof jobId === 'string' && isUuid(jobId) && Number.isInteger(attempt) && attempt >= 1 && attempt <= MAX_ATTEMPT
  );
}
