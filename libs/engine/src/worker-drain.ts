import type { Clock, EngineEvents, Subscription, WorkerRegistry } from '@deadman/domain';
import type { AttemptRunner } from './attempt-runner.js';
import type { Heart } from './heart.js';
import type { Orphans } from './orphans.js';
import type { ProgressWriter } from './progress-writer.js';
import type { RunPool } from './run-pool.js';
import type { Settler } from './settler.js';
import type { TicketQueue } from './ticket-queue.js';

/** At shutdown, time for handing everything back once handlers had theirs, all steps together. Milliseconds. */
const HAND_BACK_MS = 5_000;

/** By which ways jobs come to a worker. */
export interface WorkerIntake {
  /** Resolves when no claim is under way, which is some time after the drain has begun. */
  readonly claiming: Promise<void>;
  /** Null when the transport could not be listened to. */
  readonly subscription: Promise<Subscription | null>;
}

export interface WorkerDrainDeps {
  readonly registry: Pick<WorkerRegistry, 'retire'>;
  readonly clock: Clock;
  readonly events: EngineEvents;
  readonly heart: Pick<Heart, 'beat' | 'stop'>;
  readonly tickets: Pick<TicketQueue, 'close'>;
  readonly pool: Pick<RunPool, 'stop' | 'abortActive' | 'idle'>;
  readonly runner: Pick<AttemptRunner, 'giveUpAborted'>;
  readonly orphans: Pick<Orphans, 'released'>;
  readonly progress: Pick<ProgressWriter, 'flush'>;
  readonly settler: Pick<Settler, 'drain'>;
  readonly intake: () => WorkerIntake;
  /** Hands back what waits for a slot. */
  readonly handBack: () => void;
}

/** Times in milliseconds. */
export interface WorkerDrainOptions {
  readonly incarnation: string;
  /** How long handlers may finish before they are aborted, default 25 000. */
  readonly drainMs: number;
  /** How long an aborted handler has before its job is handed back without it, default 5 000. */
  readonly abortGraceMs: number;
}

/**
 * The shutdown of a worker, step by step: takes nothing new, lets handlers finish, aborts those that have not, hands back
 * what still has not ended, and retires. Each step has a limit, so that nothing that is away holds up the exit.
 */
export class WorkerDrain {
  readonly #deps: WorkerDrainDeps;
  readonly #options: WorkerDrainOptions;
  readonly #begun = new AbortController();
  #drained: Promise<number> | null = null;

  constructor(deps: WorkerDrainDeps, options: WorkerDrainOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Aborts when the drain begins: nothing new is taken from then on. */
  get begun(): AbortSignal {
    return this.#begun.signal;
  }

  /**
   * Calling twice waits for the first. Returns how many outcomes could not be written, since the store was away: those
   * jobs lapse, and run again.
   *
   * @param hurry cuts the waiting short when it aborts.
   */
  run(hurry: AbortSignal): Promise<number> {
    this.#drained ??= this.#run(hurry);
    return this.#drained;
  }

  async #run(hurry: AbortSignal): Promise<number> {
    const { pool, tickets, intake, handBack } = this.#deps;
    const { drainMs, abortGraceMs } = this.#options;
    this.#begun.abort();
    tickets.close();
    pool.stop();
    handBack();
    void this.#leaveTickets((subscription) => subscription.pause());
    const ended = (): Promise<unknown> => Promise.all([intake().claiming, pool.idle()]);
    await this.#bounded(ended(), drainMs, hurry);
    pool.abortActive('shutdown');
    await this.#bounded(ended(), abortGraceMs);
    return this.#handEverythingBack(hurry);
  }

  /** Handlers that ignore the signal do not hold up the exit: their jobs are handed back without them. */
  async #handEverythingBack(hurry: AbortSignal): Promise<number> {
    const { clock, heart, pool, progress, runner, settler } = this.#deps;
    const deadlineMs = clock.monotonicMs() + HAND_BACK_MS;
    // Half of what is left for each, so that a step that hangs leaves some time to those behind it.
    const shareMs = (): number => Math.max(0, deadlineMs - clock.monotonicMs()) / 2;
    runner.giveUpAborted();
    await this.#bounded(pool.idle(), shareMs());
    await this.#bounded(this.#releaseLastOrphans(), shareMs(), hurry);
    await this.#bounded(progress.flush(), shareMs(), hurry);
    const abandoned = await settler.drain(shareMs());
    await this.#bounded(
      this.#leaveTickets((subscription) => subscription.close()),
      shareMs(),
      hurry,
    );
    await this.#bounded(heart.stop(), shareMs(), hurry);
    await this.#bounded(this.#retire(), shareMs());
    return abandoned;
  }

  /** A claim whose reply was lost shows as an orphan with the next beat, and there may be none before the exit. */
  async #releaseLastOrphans(): Promise<void> {
    await this.#deps.heart.beat();
    await this.#deps.orphans.released();
  }

  /** A transport that cannot be left must not keep the jobs from being handed back. */
  async #leaveTickets(leave: (subscription: Subscription) => Promise<void>): Promise<void> {
    const subscription = await this.#deps.intake().subscription;
    if (subscription !== null) await leave(subscription).catch((error: unknown) => this.#report('tickets', error));
  }

  async #retire(): Promise<void> {
    const { registry } = this.#deps;
    await registry.retire(this.#options.incarnation).catch((error: unknown) => this.#report('retire', error));
  }

  /** Waits no longer than `limitMs`, nor after `hurry` aborts. */
  async #bounded(work: Promise<unknown>, limitMs: number, hurry?: AbortSignal): Promise<void> {
    const done = new AbortController();
    const stop = (): void => done.abort();
    void work.then(stop, stop);
    if (hurry?.aborted) return;
    hurry?.addEventListener('abort', stop, { once: true });
    await this.#deps.clock.sleep(limitMs, done.signal);
    hurry?.removeEventListener('abort', stop);
  }

  #report(loop: string, error: unknown): void {
    this.#deps.events.emit({ kind: 'loop-failed', loop, error });
  }
}
