import { DEFAULT_LEASE_POLICY, DEFAULT_LIMITS } from '@deadman/domain';
import type {
  Belief,
  Clock,
  EngineEvents,
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
import { Heartbeat } from './heartbeat.js';
import { runLoop } from './loop.js';
import { ProgressWriter } from './progress-writer.js';
import type { Publisher } from './publisher.js';
import { RunLedger } from './run-ledger.js';
import { RunPool } from './run-pool.js';
import { Run } from './run.js';
import { Settler } from './settler.js';
import { TicketQueue } from './ticket-queue.js';

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
  readonly #ledger = new RunLedger();
  readonly #tickets: TicketQueue;
  readonly #pool: RunPool;
  readonly #rate: FinishRate;
  readonly #runner: AttemptRunner;
  readonly #progress: ProgressWriter;
  readonly #settler: Settler;
  readonly #claimer: Claimer;
  readonly #heartbeat: Heartbeat;
  readonly #incarnation: string;
  readonly #stopClaiming = new AbortController();
  readonly #stopBeating = new AbortController();
  readonly #orphans = new Set<string>();
  #claiming: Promise<void> = Promise.resolve();
  #beating: Promise<void> = Promise.resolve();
  #subscription: Subscription | null = null;
  #drained: Promise<void> | null = null;

  constructor(deps: WorkerDeps, options: Partial<WorkerOptions> = {}) {
    this.#deps = deps;
    this.#options = { ...WORKER_DEFAULTS, ...options };
    const { clock, events, store } = deps;
    const { policy, limits, abortGraceMs } = this.#options;
    this.#incarnation = deps.ids.random();
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
        registry: deps.handlers,
        clock,
        events,
        log: deps.handlerLog,
        progress: (run, value) => this.#progress.record(run, value),
      },
      {
        shutdown: abortGraceMs,
        cancelled: policy.cancelGraceMs,
        timeout: SHORT_GRACE_MS,
        'lease-lost': SHORT_GRACE_MS,
      },
    );
    const worker = this.#record();
    this.#claimer = new Claimer(
      { ...deps, ledger: this.#ledger, tickets: this.#tickets, pool: this.#pool, rate: this.#rate },
      { ...this.#options, worker, ttlMs: policy.ttlMs, quarantineFrom: limits.quarantineFrom },
    );
    this.#heartbeat = new Heartbeat(
      { ...deps, ledger: this.#ledger },
      { ...this.#options, worker },
      {
        onOrphans: (orphans) => void this.#releaseOrphans(orphans),
        onQuarantineWaiting: () => this.#claimer.makeRoomForQuarantine(),
      },
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

  /** Begins to beat, to listen for tickets, and, once the first beat was written, to claim. Throws what `consumeReady` throws. */
  async start(): Promise<void> {
    const isRegistered = new Promise<void>((resolve) => {
      this.#beating = this.#beatUntilStopped(resolve);
    });
    this.#claiming = this.#claimOnce(isRegistered);
    this.#subscription = await this.#deps.transport.consumeReady(this.#options.queues, this.#tickets);
  }

  /** A cancel was asked for these jobs: those that run here are told at once instead of with the next beat. */
  cancel(jobIds: readonly string[]): void {
    const wanted = new Set(jobIds);
    for (const run of this.#ledger.runs()) {
      if (wanted.has(run.job.id)) run.abort('cancelled');
    }
  }

  /**
   * Finishes or hands back everything that is held, so that nothing is left to lapse: takes nothing new, lets handlers
   * finish for `drainMs`, then aborts them, then releases what still has not ended. Calling twice waits for the first.
   *
   * @param hurry cuts the waiting short when it aborts.
   */
  drain(hurry: AbortSignal = new AbortController().signal): Promise<void> {
    this.#drained ??= this.#drain(hurry);
    return this.#drained;
  }

  async #drain(hurry: AbortSignal): Promise<void> {
    const { drainMs, abortGraceMs } = this.#options;
    this.#stopClaiming.abort();
    this.#pool.stop();
    this.#handBack(() => true, 'shutdown');
    await this.#subscription?.close();
    this.#tickets.close();
    await this.#bounded(Promise.all([this.#claiming, this.#pool.idle()]), drainMs, hurry);
    this.#handBack(() => true, 'shutdown');
    await this.#abortWhatRuns(abortGraceMs);
    await this.#progress.flush();
    await this.#settler.drain(abortGraceMs);
    this.#stopBeating.abort();
    await this.#beating;
    await this.#deps.registry.retire(this.#incarnation).catch(() => undefined);
  }

  /** Handlers that ignore the signal do not hold up the exit: their jobs are handed back without them. */
  async #abortWhatRuns(graceMs: number): Promise<void> {
    this.#pool.abortActive('shutdown');
    await this.#bounded(this.#pool.idle(), graceMs);
    for (const run of this.#pool.activeRuns()) {
      void this.#settler.settle(run, abortedEvent(run, run.abortedBy ?? 'shutdown'));
    }
  }

  /** The row that says this worker lives is committed before its first claim (`protocol.md` §6). */
  async #claimOnce(isRegistered: Promise<void>): Promise<void> {
    const { signal } = this.#stopClaiming;
    const isStopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([isRegistered, isStopped]);
    await this.#claimer.run(signal);
  }

  #beatUntilStopped(onRegistered: () => void): Promise<void> {
    const { clock, random, events } = this.#deps;
    const turn = async (): Promise<void> => {
      if (await this.#heartbeat.beat()) onRegistered();
      this.#handBack((run) => this.#isLate(run), 'not-started');
    };
    const everyMs = this.#options.policy.beatMs;
    return runLoop({ name: 'heartbeat', everyMs, turn, clock, random, events, signal: this.#stopBeating.signal });
  }

  /** One run from its slot to its outcome. The slot is free as soon as the handler is done; the outcome is written behind it. */
  async #execute(run: Run): Promise<void> {
    if (run.isLost) return this.#settler.settle(run, null);
    if (this.#isLate(run)) return this.#settler.settle(run, released('not-started'));
    const event = await this.#runner.run(run);
    run.endedAtMs = this.#deps.clock.monotonicMs();
    this.#rate.count();
    await this.#progress.finish(run);
    void this.#settler.settle(run, event).then(() => this.#claimer.nudge());
  }

  /** A claim that is a TTL old without a start is handed back, its reply may have been that slow (`protocol.md` §5). */
  #isLate(run: Run): boolean {
    return this.#deps.clock.monotonicMs() - run.claimedAtMs > this.#options.policy.ttlMs;
  }

  #handBack(isUnwanted: (run: Run) => boolean, reason: ReleaseReason): void {
    for (const run of this.#pool.withdraw(isUnwanted)) {
      void this.#settler.settle(run, run.isLost ? null : released(reason));
    }
  }

  /** Claims whose reply was lost are given back, so that the job does not wait for a lapse. */
  async #releaseOrphans(orphans: readonly Belief[]): Promise<void> {
    const tokens = new Set(orphans.map(({ token }) => token).filter((token) => !this.#orphans.has(token)));
    for (const token of tokens) {
      this.#orphans.add(token);
      await this.#releaseOrphansOf(token).catch((error: unknown) =>
        this.#deps.events.emit({ kind: 'loop-failed', loop: 'release-orphans', error }),
      );
      this.#orphans.delete(token);
    }
  }

  async #releaseOrphansOf(token: string): Promise<void> {
    const { store, clock, events } = this.#deps;
    const jobs = await store.findClaimed(token);
    for (const job of jobs) {
      if (this.#ledger.find({ jobId: job.id, token }) !== undefined) continue;
      events.emit({ kind: 'orphan-released', jobId: job.id, attempt: job.attempt });
      void this.#settler.settle(new Run(job, clock.monotonicMs()), released('orphan-claim'));
    }
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

  #record(): WorkerRecord {
    const { name, queues, slots } = this.#options;
    return { incarnation: this.#incarnation, name, types: this.#deps.handlers.types(), queues, slots };
  }
}

function released(reason: ReleaseReason): AttemptOutcomeEvent {
  return { kind: 'release', reason, startedAfterMs: null };
}
