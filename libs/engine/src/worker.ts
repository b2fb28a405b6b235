import { DEFAULT_LEASE_POLICY, DEFAULT_LIMITS } from '@deadman/domain';
import type {
  Belief,
  Clock,
  EffectStore,
  EngineEvents,
  Failpoints,
  HandlerJob,
  HandlerLog,
  Ids,
  JobLimits,
  JobStore,
  LeasePolicy,
  LeaseStore,
  Random,
  ReleaseReason,
  Subscription,
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
import { ProgressWriter } from './progress-writer.js';
import type { Publisher } from './publisher.js';
import { makeRunEffects, NO_EFFECTS } from './run-effects.js';
import type { RunEffects } from './run-effects.js';
import { RunGuard } from './run-guard.js';
import { RunLedger } from './run-ledger.js';
import { RunPool } from './run-pool.js';
import { Run, runKey } from './run.js';
import { Settler } from './settler.js';
import { TicketQueue } from './ticket-queue.js';
import { UnderWay } from './under-way.js';

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

/** Times in milliseconds. Values of protocol rules stand in `protocol.md` §13. */
export interface WorkerOptions {
  /** For people: the instance's name. */
  readonly name: string;
  readonly queues: readonly string[];
  readonly slots: number;
  readonly policy: LeasePolicy;
  readonly limits: JobLimits;
  /** Jobs that tickets may name before the transport is held back. */
  readonly ticketCapacity: number;
  readonly maxClaim: number;
  readonly maxAhead: number;
  readonly idleMinAgeMs: number;
  readonly idleEveryMs: number;
  readonly idleAtLeastEveryMs: number;
  readonly quarantineWaitMs: number;
  readonly progressEveryMs: number;
  /** How long a shutdown lets handlers finish before it aborts them. */
  readonly drainMs: number;
  /** How long an aborted handler has before its job is settled without it, and a shutdown's last writes have. */
  readonly abortGraceMs: number;
}

export const WORKER_DEFAULTS: WorkerOptions = {
  name: 'worker',
  queues: ['default'],
  slots: 16,
  policy: DEFAULT_LEASE_POLICY,
  limits: DEFAULT_LIMITS,
  ticketCapacity: 5_000,
  maxClaim: 500,
  maxAhead: 2_000,
  idleMinAgeMs: 2_000,
  idleEveryMs: 1_000,
  idleAtLeastEveryMs: 5_000,
  quarantineWaitMs: 60_000,
  progressEveryMs: 500,
  drainMs: 25_000,
  abortGraceMs: 5_000,
};

/** At shutdown, time for handing everything back once handlers had theirs, all steps together. Milliseconds. */
const HAND_BACK_MS = 5_000;

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
  readonly #incarnation: string;
  readonly #stopClaiming = new AbortController();
  /** Tokens whose orphans are being released. */
  readonly #orphans = new Set<string>();
  readonly #releasing = new UnderWay();
  #claiming: Promise<void> = Promise.resolve();
  #onRegistered: () => void = () => {};
  #subscription: Promise<Subscription | null> = Promise.resolve(null);
  #drained: Promise<number> | null = null;

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
    if (this.#drained !== null) return;
    const isRegistered = new Promise<void>((resolve) => (this.#onRegistered = resolve));
    this.#heart.start((word) => this.#hear(word));
    this.#claiming = this.#claimOnce(isRegistered);
    const subscription = this.#deps.transport.consumeReady(this.#options.queues, this.#tickets);
    this.#subscription = subscription.catch(() => null);
    await subscription;
  }

  /** A cancel was asked for these jobs: those that run here are told at once instead of with the next beat. */
  cancel(jobIds: readonly string[]): void {
    const wanted = new Set(jobIds);
    const runs = this.#ledger.runs().filter(({ job }) => wanted.has(job.id));
    this.#cancelRuns(runs.map(({ key }) => key));
  }

  /**
   * Finishes or hands back everything that is held, so that nothing is left to lapse: takes nothing new, lets handlers
   * finish for `drainMs`, then aborts them, then releases what still has not ended. Calling twice waits for the first.
   * Returns how many outcomes could not be written, since the store was away: those jobs lapse, and run again.
   *
   * @param hurry cuts the waiting short when it aborts.
   */
  drain(hurry: AbortSignal = new AbortController().signal): Promise<number> {
    this.#drained ??= this.#drain(hurry);
    return this.#drained;
  }

  async #drain(hurry: AbortSignal): Promise<number> {
    const { drainMs, abortGraceMs } = this.#options;
    this.#stopClaiming.abort();
    this.#tickets.close();
    this.#pool.stop();
    this.#handBack('shutdown');
    void this.#leaveTickets((subscription) => subscription.pause());
    const ended = (): Promise<unknown> => Promise.all([this.#claiming, this.#pool.idle()]);
    await this.#bounded(ended(), drainMs, hurry);
    this.#pool.abortActive('shutdown');
    await this.#bounded(ended(), abortGraceMs);
    return this.#handEverythingBack(hurry);
  }

  /** Handlers that ignore the signal do not hold up the exit: their jobs are handed back without them. */
  async #handEverythingBack(hurry: AbortSignal): Promise<number> {
    const { clock } = this.#deps;
    const deadlineMs = clock.monotonicMs() + HAND_BACK_MS;
    // Half of what is left for each, so that a step that hangs leaves some time to those behind it.
    const shareMs = (): number => Math.max(0, deadlineMs - clock.monotonicMs()) / 2;
    this.#runner.giveUpAborted();
    await this.#bounded(this.#pool.idle(), shareMs());
    await this.#bounded(this.#releaseLastOrphans(), shareMs(), hurry);
    await this.#bounded(this.#progress.flush(), shareMs(), hurry);
    const abandoned = await this.#settler.drain(shareMs());
    await this.#bounded(
      this.#leaveTickets((subscription) => subscription.close()),
      shareMs(),
      hurry,
    );
    await this.#bounded(this.#heart.stop(), shareMs(), hurry);
    await this.#bounded(this.#retire(), shareMs());
    return abandoned;
  }

  async #retire(): Promise<void> {
    await this.#deps.registry.retire(this.#incarnation).catch((error: unknown) => this.#report('retire', error));
  }

  /** A claim whose reply was lost shows as an orphan with the next beat, and there may be none before the exit. */
  async #releaseLastOrphans(): Promise<void> {
    await this.#heart.beat();
    await this.#releasing.settled();
  }

  /** A transport that cannot be left must not keep the jobs from being handed back. */
  async #leaveTickets(leave: (subscription: Subscription) => Promise<void>): Promise<void> {
    const subscription = await this.#subscription;
    if (subscription !== null) await leave(subscription).catch((error: unknown) => this.#report('tickets', error));
  }

  /**
   * The row that says this worker lives is committed before its first claim (`protocol.md` §6). What the last claim gave
   * after the worker was told to stop goes back.
   */
  async #claimOnce(isRegistered: Promise<void>): Promise<void> {
    const { signal } = this.#stopClaiming;
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
        return void this.#releasing.track(this.#releaseOrphans(word.orphans));
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

  /** Claims whose reply was lost are given back, so that the job does not wait for a lapse. */
  async #releaseOrphans(orphans: readonly Belief[]): Promise<void> {
    const tokens = new Set(orphans.map(({ token }) => token).filter((token) => !this.#orphans.has(token)));
    for (const token of tokens) {
      this.#orphans.add(token);
      await this.#releaseOrphansOf(token).catch((error: unknown) => this.#report('release-orphans', error));
      this.#orphans.delete(token);
    }
  }

  /**
   * Resolves when they are released, so that the next beat does not take them for orphans once more. Whether they are
   * orphans is judged by what was held before the store is asked: a claim whose reply is out may still bring them, and
   * what is settled meanwhile was none.
   */
  async #releaseOrphansOf(token: string): Promise<void> {
    const { store, clock, events } = this.#deps;
    if (this.#ledger.isClaiming(token)) return;
    const held = new Set(this.#ledger.runs().map(({ key }) => key));
    const claimed = await store.findClaimed(token);
    const orphans = claimed.filter(({ id }) => !held.has(runKey({ jobId: id, token })));
    await Promise.all(
      orphans.map((job) => {
        events.emit({ kind: 'orphan-released', jobId: job.id, attempt: job.attempt });
        return this.#settler.settle(new Run(job, clock.monotonicMs()), released('orphan-claim'));
      }),
    );
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

  #record(): WorkerRecord {
    const { name, queues, slots } = this.#options;
    return { incarnation: this.#incarnation, name, types: this.#deps.handlers.types(), queues, slots };
  }
}

function released(reason: ReleaseReason): AttemptOutcomeEvent {
  return { kind: 'release', reason, startedAfterMs: null };
}

/** What a queued run that was aborted came to is decided by why it was. */
function unstarted(run: Run, reason: ReleaseReason): AttemptOutcomeEvent {
  return run.abortedBy === null ? released(reason) : abortedEvent(run, run.abortedBy);
}
