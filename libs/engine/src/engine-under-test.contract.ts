import { DEFAULT_LIMITS, leasePolicy, NO_FAILPOINTS } from '@deadman/domain';
import type {
  AttemptRecord,
  CancelledClaim,
  Clock,
  Due,
  EffectStore,
  Failpoints,
  Handler,
  HandlerContext,
  HandlerLog,
  Job,
  JobSpec,
  JobStore,
  LeaseStore,
  Random,
  WorkerRecord,
  WorkerRegistry,
} from '@deadman/domain';
import { MemoryLeaseStore, MemoryWakeUpSet } from '@deadman/leases';
import { MemoryDatabase, MemoryEffectStore, MemoryJobStore, MemoryWorkerRegistry } from '@deadman/store';
import { aSubmission, FakeClock, FixedRandom, RecordingEvents, SequenceIds } from '@deadman/testing';
import { MemoryTransport } from '@deadman/transport';
import { DeadLetterRecorder } from './dead-letter-recorder.js';
import { FarHeart } from './far-heart.contract.js';
import { HandlerRegistry } from './handler-registry.js';
import { runLoop } from './loop.js';
import { Promoter } from './promoter.js';
import { Publisher } from './publisher.js';
import { Reaper } from './reaper.js';
import { Relay } from './relay.js';
import { Submitter } from './submitter.js';
import { withFaults } from './with-faults.contract.js';
import type { CallFault } from './with-faults.contract.js';
import { WORKER_DEFAULTS } from './worker-options.js';
import type { WorkerOptions } from './worker-options.js';
import { Worker } from './worker.js';
import type { WorkerDeps } from './worker.js';

const SILENT: HandlerLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Which port a call goes to, by its name here. */
export type Port = 'store' | 'registry' | 'leases' | 'effects';
export type FaultOf = (port: Port, method: string) => CallFault | null;

export interface EngineUnderTestOptions {
  readonly ttlMs?: number;
  readonly random?: Random;
  /** Asked at each call of a worker; what it returns goes wrong. Nothing does by default. */
  readonly faultOf?: FaultOf;
  readonly failpoints?: Failpoints;
}

/** Where a worker lives. */
export interface WorkerPlace {
  /** Default: the test's own. */
  readonly clock?: Clock;
  readonly faultOf?: FaultOf;
  /** Whether its heart beats as in another thread. Default: it beats in the worker's own. */
  readonly isHeartFar?: boolean;
}

/** Every part of the system in one process, over the adapters in memory and a clock that the test moves. */
export class EngineUnderTest {
  readonly clock = new FakeClock();
  readonly events = new RecordingEvents();
  readonly ids = new SequenceIds(this.clock);
  readonly db = new MemoryDatabase(this.clock);
  readonly store: JobStore = new MemoryJobStore(this.db);
  readonly registry: WorkerRegistry = new MemoryWorkerRegistry(this.db);
  readonly effects: EffectStore = new MemoryEffectStore(this.db);
  readonly leases: LeaseStore = new MemoryLeaseStore(this.clock);
  readonly transport = new MemoryTransport(this.clock);
  readonly failpoints: Failpoints;
  readonly publisher: Publisher;
  readonly submitter: Submitter;
  readonly policy: ReturnType<typeof leasePolicy>;
  readonly random: Random;
  readonly #faultOf: FaultOf;
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[] = [];
  readonly #recorder: DeadLetterRecorder;

  constructor({
    ttlMs = 30_000,
    random = new FixedRandom(),
    faultOf = () => null,
    failpoints = NO_FAILPOINTS,
  }: EngineUnderTestOptions = {}) {
    this.policy = leasePolicy(ttlMs);
    this.random = random;
    this.#faultOf = faultOf;
    this.failpoints = failpoints;
    this.publisher = new Publisher(this);
    this.submitter = new Submitter(this);
    this.#recorder = new DeadLetterRecorder(this);
  }

  /** A worker whose calls suffer what `faultOf` says. */
  workerOf(
    handlers: readonly Handler[],
    options: Partial<WorkerOptions> = {},
    { clock = this.clock, faultOf = this.#faultOf, isHeartFar = false }: WorkerPlace = {},
  ): Worker {
    const registry = new HandlerRegistry();
    for (const handler of handlers) registry.register(handler);
    const chosen = { ...WORKER_DEFAULTS, policy: this.policy, slots: 4, ...options };
    const deps: WorkerDeps = {
      store: withFaults(this.store, (method) => faultOf('store', method)),
      registry: withFaults(this.registry, (method) => faultOf('registry', method)),
      leases: withFaults(this.leases, (method) => faultOf('leases', method)),
      effects: withFaults(this.effects, (method) => faultOf('effects', method)),
      transport: this.transport,
      publisher: this.publisher,
      handlers: registry,
      clock,
      random: this.random,
      ids: this.ids,
      events: this.events,
      handlerLog: () => SILENT,
      failpoints: this.failpoints,
    };
    const makeHeart = (worker: WorkerRecord): FarHeart => new FarHeart(deps, { ...chosen, worker });
    return new Worker({ ...deps, ...(isHeartFar && { makeHeart }) }, chosen);
  }

  /** Starts what runs beside the workers: reaper, promoter, relay and the recorder of dead letters. */
  async startServices(): Promise<void> {
    const rules = { limits: DEFAULT_LIMITS, random: this.random };
    const reaper = new Reaper({ ...this, rules }, { name: 'reaper-1', policy: this.policy });
    const promoter = new Promoter({ ...this, wakeUps: new MemoryWakeUpSet(this.clock) });
    const relay = new Relay(this);
    this.#loop('reaper', 1_000, () => reaper.turn());
    this.#loop('promoter', 1_000, () => promoter.turn());
    this.#loop('wake-ups', 0, (signal) => promoter.wakeTurn(signal));
    this.#loop('relay', 1_000, () => relay.turn());
    await this.#recorder.start();
  }

  async stopServices(): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#loops, this.#recorder.stop()]);
  }

  #loop(name: string, everyMs: number, turn: (signal: AbortSignal) => Promise<'again' | void>): void {
    const { clock, random, events } = this;
    this.#loops.push(runLoop({ name, everyMs, turn, clock, random, events, signal: this.#stop.signal }));
  }

  async submit(overrides: Partial<JobSpec> = {}, due?: Due): Promise<string> {
    const { job } = await this.submitter.submit(aSubmission({ id: this.ids.timeOrdered(), ...overrides }, due));
    return job.id;
  }

  submitMany(count: number, overrides: Partial<JobSpec> = {}): Promise<string[]> {
    return Promise.all(Array.from({ length: count }, () => this.submit(overrides)));
  }

  jobOf(id: string): Job {
    return this.db.jobs.get(id)!;
  }

  /** Of a job that runs. */
  claimOf(id: string): CancelledClaim {
    return { jobId: id, token: this.jobOf(id).claim!.token };
  }

  attemptsOf(id: string): readonly AttemptRecord[] {
    return this.db.attempts.get(id) ?? [];
  }

  outcomesOf(id: string): readonly string[] {
    return this.attemptsOf(id).map(({ outcome }) => outcome);
  }

  /** How many jobs are in each state. */
  states(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { state } of this.db.jobs.values()) counts[state] = (counts[state] ?? 0) + 1;
    return counts;
  }
}

/** A handler that takes any payload. */
export function aHandler(run: (context: HandlerContext) => unknown, type = 'demo.echo'): Handler {
  return { type, parse: (value) => ({ value }), run };
}

/** A handler that takes this long, and throws the reason of its signal when it is aborted, as `fetch` does. */
export function aSleeper(clock: Clock, ms: number, type = 'demo.echo'): Handler {
  return aHandler(async ({ signal }) => {
    await clock.sleep(ms, signal);
    signal.throwIfAborted();
  }, type);
}
