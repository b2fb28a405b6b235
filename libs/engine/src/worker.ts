import type {
  CancelledClaim,
  Clock,
  EffectStore,
  EngineEvents,
  Failpoints,
  HandlerJob,
  HandlerLog,
  Ids,
  JobStore,
  LeaseStore,
  Random,
  ReleaseReason,
  Transport,
  WorkerRecord,
  WorkerRegistry,
} from '@deadman/domain';
import { abortedEvent, AttemptRunner } from './attempt-runner.js';
import type { AttemptOutcomeEvent } from './attempt-runner.js';
import { Claimer } from './claimer.js';
import { FinishRate } from './finish-rate.js';
import type { HandlerRegistry } from './handler-registry.js';
import type { Heart, HeartWord } from './heart.js';
import { LocalHeart } from './local-heart.js';
import { Orphans } from './orphans.js';
import { ProgressWriter } from './progress-writer.js';
import type { Publisher } from './publisher.js';
import { makeRunEffects, NO_EFFECTS } from './run-effects.js';
import type { RunEffects } from './run-effects.js';
import { RunGuard } from './run-guard.js';
import { RunLedger } from './run-ledger.js';
import { RunPool } from './run-pool.js';
import type { Run } from './run.js';
import { Settler } from './settler.js';
import { TicketQueue } from './ticket-queue.js';
import { WorkerDrain } from './worker-drain.js';
import type { WorkerIntake } from './worker-drain.js';
import { WORKER_DEFAULTS } from './worker-options.js';
import type { WorkerOptions } from './worker-options.js';

export interface WorkerDeps {
  readonly store: JobStore;
  readonly registry: WorkerRegistry;
  readonly leases: LeaseStore;
  readonly transport: Transport;
  readonly publisher: Publisher;
  readonly handlers: HandlerRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly events: EngineEvents;
  /** Makes the log that a handler writes to. */
  readonly handlerLog: (job: HandlerJob) => HandlerLog;
  /** Makes what keeps the runs of this worker alive. Default: a `LocalHeart`, which a handler that blocks the thread stops. */
  readonly makeHeart?: (worker: WorkerRecord) => Heart;
  /** What handlers' transactions and steps are kept in. Default: none, and a handler that asks for one is refused. */
  readonly effects?: EffectStore;
  /** Default: none. */
  readonly failpoints?: Failpoints;
}

/** A handler that was told to stop for a timeout or a lost lease has this long; then its slot goes to another. Milliseconds. */
const SHORT_GRACE_MS = 1_000;

/**
 * Takes jobs, runs them and hands in what became of them. Composed of parts that each do one thing: the ticket queue holds
 * wake-ups, the claimer decides what to take, the pool runs it, the settler writes the outcome, and the heartbeat keeps
 * all of it alive and honest.
 */
export class Worker {
  readonly #deps: WorkerDeps;
  readonly #options: WorkerOptions;
  readonly #heart: Heart;
  readonly #ledger: RunLedger;
  readonly #guard: RunGuard;
  readonly #tickets: TicketQueue;
  readonly #pool: RunPool;
  readonly #rate: FinishRate;
  readonly #runner: AttemptRunner;
  readonly #progress: ProgressWriter;
  readonly #settler: Settler;
  readonly #claimer: Claimer;
  readonly #orphans: Orphans;
  readonly #drain: WorkerDrain;
  readonly #incarnation: string;
  #onRegistered: () => void = () => {};
  #intake: WorkerIntake = { claiming: Promise.resolve(), subscription: Promise.resolve(null) };

  constructor(deps: WorkerDeps, options: Partial<WorkerOptions> = {}) {
    this.#deps = deps;
    this.#options = { ...WORKER_DEFAULTS, ...options };
    const { clock, events, store } = deps;
    const { policy, limits, abortGraceMs } = this.#options;
    this.#incarnation = deps.ids.random();
    const worker = this.#record();
    this.#heart = deps.makeHeart?.(worker) ?? new LocalHeart(deps, { ...this.#options, worker });
    this.#ledger = new RunLedger((news) => this.#heart.tell(news));
    this.#guard = new RunGuard({ ledger: this.#ledger, heart: this.#heart, clock, events }, policy.ttlMs);
    this.#rate = new FinishRate(clock);
    this.#tickets = new TicketQueue(this.#options.ticketCapacity, events, () => this.#claimer.nudge());
    this.#pool = new RunPool(
      this.#options.slots,
      (run) => this.#execute(run),
      () => this.#claimer.nudge(),
    );
    this.#progress = new ProgressWriter({ store, clock, events }, this.#options.progressEveryMs);
    this.#settler = new Settler({ ...deps, ledger: this.#ledger, rules: { limits, random: deps.random } });
    this.#runner = new AttemptRunner(
      {
        ...deps,
        registry: deps.handlers,
        ledger: this.#ledger,
        log: deps.handlerLog,
        progress: (run, value) => this.#progress.record(run, value),
        effects: (run) => this.#effectsOf(run),
      },
      {
        shutdown: abortGraceMs,
        cancelled: policy.cancelGraceMs,
        timeout: SHORT_GRACE_MS,
        'lease-lost': SHORT_GRACE_MS,
      },
    );
    this.#claimer = new Claimer(
      { ...deps, ledger: this.#ledger, tickets: this.#tickets, pool: this.#pool, rate: this.#rate },
      { ...this.#options, worker, ttlMs: policy.ttlMs, quarantineFrom: limits.quarantineFrom },
    );
    this.#orphans = new Orphans({ ...deps, ledger: this.#ledger, settler: this.#settler });
    this.#drain = new WorkerDrain(
      {
        ...deps,
        heart: this.#heart,
        tickets: this.#tickets,
        pool: this.#pool,
        runner: this.#runner,
        orphans: this.#orphans,
        progress: this.#progress,
        settler: this.#settler,
        intake: () => this.#intake,
        handBack: () => this.#handBack('shutdown'),
      },
      { ...this.#options, incarnation: this.#incarnation },
    );
  }

  /** The uuid under which this worker holds its claims. */
  get incarnation(): string {
    return this.#incarnation;
  }

  get busySlots(): number {
    return this.#pool.active;
  }

  get slots(): number {
    return this.#options.slots;
  }

  /**
   * Begins to beat, to listen for tickets, and, once the first beat was written, to claim. Does nothing after `drain`.
   * Throws what `consumeReady` throws; the worker then works without tickets, until it is drained.
   */
  async start(): Promise<void> {
    if (this.#drain.begun.aborted) return;
    const isRegistered = new Promise<void>((resolve) => (this.#onRegistered = resolve));
    this.#heart.start((word) => this.#hear(word));
    const claiming = this.#claimOnce(isRegistered);
    const subscription = this.#deps.transport.consumeReady(this.#options.queues, this.#tickets);
    this.#intake = { claiming, subscription: subscription.catch(() => null) };
    await subscription;
  }

  /**
   * A cancel was asked for these: those that run here are told at once instead of with the next beat. Needs not be called for
   * a heart that hears of cancels by itself.
   */
  cancel(claims: readonly CancelledClaim[]): void {
    this.#heart.tell({ kind: 'cancel-noticed', claims });
  }

  /**
   * Finishes or hands back everything that is held, so that nothing is left to lapse: takes nothing new, lets handlers
   * finish for `drainMs`, then aborts them, then releases what still has not ended. Calling twice waits for the first.
   * Returns how many outcomes could not be written, since the store was away: those jobs lapse, and run again.
   *
   * @param hurry cuts the waiting short when it aborts.
   */
  drain(hurry: AbortSignal = new AbortController().signal): Promise<number> {
    return this.#drain.run(hurry);
  }

  /**
   * The row that says this worker lives is committed before its first claim (`protocol.md` §6). What the last claim gave
   * after the worker was told to stop goes back.
   */
  async #claimOnce(isRegistered: Promise<void>): Promise<void> {
    const signal = this.#drain.begun;
    const isStopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([isRegistered, isStopped]);
    await this.#claimer.run(signal);
    this.#handBack('shutdown');
  }

  #hear(word: HeartWord): void {
    switch (word.kind) {
      case 'beaten':
        return this.#onBeaten(word.isRegistered);
      case 'runs-vouched':
        return this.#guard.vouch(word);
      case 'run-lost':
        return this.#guard.lose(word);
      case 'cancel-asked':
        return this.#cancelRuns(word.keys);
      case 'orphans-found':
        return this.#orphans.found(word.orphans);
      case 'quarantine-waits':
        return this.#claimer.makeRoomForQuarantine();
      case 'quarantine-clear':
        return this.#claimer.stopMakingRoom();
    }
  }

  /** Until the first beat was written no claim turns, but a worker whose store is away is alive all the same. */
  #onBeaten(isRegistered: boolean): void {
    if (isRegistered) this.#onRegistered();
    else this.#deps.events.emit({ kind: 'loop-turned', loop: 'claim' });
    this.#handBack('not-started', (run) => !this.#mayStart(run));
  }

  #cancelRuns(keys: readonly string[]): void {
    this.#guard.cancel(keys);
    this.#handBack('not-started', (run) => run.abortedBy !== null);
  }

  /** One run from its slot to its outcome. The slot is free as soon as the handler is done; the outcome is written behind it. */
  async #execute(run: Run): Promise<void> {
    const event = this.#mayStart(run) ? await this.#attempt(run) : unstarted(run, 'not-started');
    this.#settle(run, event);
  }

  async #attempt(run: Run): Promise<AttemptOutcomeEvent> {
    const event = await this.#runner.run(run);
    run.endedAtMs = this.#deps.clock.monotonicMs();
    this.#rate.count();
    await this.#progress.finish(run);
    return event;
  }

  #effectsOf(run: Run): RunEffects {
    const { effects: store } = this.#deps;
    return store === undefined ? NO_EFFECTS : makeRunEffects(run, { ...this.#deps, store, guard: this.#guard });
  }

  #settle(run: Run, event: AttemptOutcomeEvent): void {
    void this.#settler.settle(run, event).then(() => this.#claimer.nudge());
  }

  /**
   * A run that was cancelled or lost while it waited for a slot never starts, nor one whose claim is a TTL old: its reply
   * may have been that slow (`protocol.md` §5).
   */
  #mayStart(run: Run): boolean {
    return run.abortedBy === null && this.#deps.clock.monotonicMs() - run.claimedAtMs <= this.#options.policy.ttlMs;
  }

  /** Ends queued runs without a start. */
  #handBack(reason: ReleaseReason, isUnwanted: (run: Run) => boolean = () => true): void {
    for (const run of this.#pool.withdraw(isUnwanted)) this.#settle(run, unstarted(run, reason));
  }

  #record(): WorkerRecord {
    const { name, queues, slots } = this.#options;
    return { incarnation: this.#incarnation, name, types: this.#deps.handlers.types(), queues, slots };
  }
}

/** What a queued run that was aborted came to is decided by why it was. */
function unstarted(run: Run, reason: ReleaseReason): AttemptOutcomeEvent {
  if (run.abortedBy !== null) return abortedEvent(run, run.abortedBy);
  return { kind: 'release', reason, startedAfterMs: null };
}
