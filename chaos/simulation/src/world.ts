import { DEFAULT_LIMITS, leasePolicy } from '@deadman/domain';
import type { EngineEvent, EngineEvents, Job, JobLimits, LeasePolicy, Rules } from '@deadman/domain';
import {
  DeadLetterRecorder,
  HandlerRegistry,
  JobCommands,
  Promoter,
  Publisher,
  Reaper,
  Relay,
  runLoop,
  Submitter,
  Worker,
} from '@deadman/engine';
import type { LoopSpec } from '@deadman/engine';
import { MemoryLeaseStore, MemoryWakeUpSet } from '@deadman/leases';
import { MemoryJobStore, MemoryStoreNotices, MemoryWorkerRegistry } from '@deadman/store';
import { SeededRandom, SequenceIds } from '@deadman/testing';
import { Broker } from './broker.js';
import type { Fault, FaultPlan } from './fault-plan.js';
import { Invariants, Promises } from './invariants.js';
import { Kernel } from './kernel.js';
import { Network } from './network.js';
import { ObservedDatabase } from './observed-database.js';
import { Process, VirtualClock } from './process.js';
import { remote, RemoteNotices, RemoteTransport } from './remote-ports.js';
import type { RemotePorts } from './remote-ports.js';
import { simulatedHandler } from './sim-handler.js';
import { Situations } from './situations.js';
import type { Story } from './story.js';

/** Shorter than in production, so that a schedule sees several; said in every report. Milliseconds. */
export const TTL_MS = 5_000;
export const POLICY: LeasePolicy = leasePolicy(TTL_MS, { cancelGraceMs: 8_000 });
export const LIMITS: JobLimits = { ...DEFAULT_LIMITS, quarantineMaxMs: 10_000 };
/** Scaled down with the quarantine's backoff. Milliseconds. */
const QUARANTINE_WAIT_MS = 10_000;

type Role = 'api' | 'worker' | 'reaper' | 'recorder';

/** What an api process can be asked. */
export interface Intake {
  readonly submitter: Submitter;
  readonly commands: JobCommands;
}

/** A place in the deployment: whatever process stands there at the moment. */
interface Post {
  readonly role: Role;
  readonly name: string;
  lives: number;
  process: Process;
  /** Ends the process as SIGTERM does. */
  stop: () => Promise<void>;
  intake: Intake | null;
}

/**
 * A whole deployment in one thread: the engine's real code in every process, in-memory adapters as its servers, and a
 * network between them that does what the plan says.
 */
export class World {
  readonly kernel = new Kernel();
  readonly situations = new Situations();
  readonly promises = new Promises();
  readonly invariants: Invariants;
  readonly db: ObservedDatabase;
  readonly network: Network;
  readonly plan: FaultPlan;
  readonly #story: Story;
  readonly #serverClock = new VirtualClock(this.kernel);
  readonly #leases = new MemoryLeaseStore(this.#serverClock);
  readonly #wakeUps = new MemoryWakeUpSet(this.#serverClock);
  readonly #broker: Broker;
  readonly #posts: Post[] = [];
  readonly #holders = new Map<string, Process>();
  #streams = 0;
  #isStopping = false;

  constructor(plan: FaultPlan, story: Story) {
    this.plan = plan;
    this.#story = story;
    this.invariants = new Invariants(this.promises, (job) => this.#noteLapse(job));
    this.db = new ObservedDatabase(this.#serverClock, {
      onChange: (before, after) => {
        this.invariants.onChange(before, after);
        this.tell('database', `${after.id.slice(-6)} ${before?.state ?? 'new'} → ${after.state} #${after.attempt}`);
      },
    });
    this.network = new Network(this.kernel, this.#dice(), plan.network, this.situations);
    this.#broker = new Broker(this.kernel, this.situations);
    this.#man('api', 1);
    this.#man('worker', plan.workers);
    this.#man('reaper', plan.reapers);
    this.#man('recorder', 1);
  }

  /** The api process that stands at the moment, if it can answer. */
  get intake(): Intake | null {
    const api = this.#posts.find(({ role }) => role === 'api');
    return api !== undefined && api.process.isAlive ? api.intake : null;
  }

  tell(who: string, what: string): void {
    this.#story.tell(this.kernel.nowMs, who, what);
  }

  schedule(fault: Fault): void {
    if (fault.kind === 'failover') this.#scheduleFailover(fault.atMs, fault.lostMs);
    else this.kernel.after(fault.atMs, () => this.#inflict(fault));
  }

  /** The faults are over: every message arrives, every server answers, every process stands. */
  heal(): void {
    this.#isStopping = true;
    this.network.calm();
    for (const server of ['postgres', 'redis', 'kafka'] as const) this.network.bringUp(server);
    for (const post of this.#posts) post.process.thaw();
    this.tell('world', 'faults are over');
  }

  #inflict(fault: Exclude<Fault, { kind: 'failover' }>): void {
    if (this.#isStopping) return;
    this.tell('world', JSON.stringify(fault));
    switch (fault.kind) {
      case 'kill':
        return this.#kill(this.#victim(fault.victim), fault.forMs);
      case 'freeze':
        return this.#freeze(this.#victim(fault.victim), fault.forMs);
      case 'restart':
        return this.#restart(this.#victim(fault.victim), fault.forMs);
      case 'outage':
        this.network.takeDown(fault.server);
        this.kernel.after(fault.forMs, () => this.network.bringUp(fault.server));
        return;
      case 'redis-flush':
        return this.#leases.forget();
      case 'redis-rewind':
        return this.#leases.forget();
      case 'kafka-wipe':
        return this.#broker.wipe();
      case 'rebalance':
        return this.#broker.rebalance();
    }
  }

  #victim(number: number): Post {
    return this.#posts[number % this.#posts.length]!;
  }

  #kill(post: Post, forMs: number): void {
    post.process.kill();
    this.kernel.after(forMs, () => this.#start(post));
  }

  #freeze({ process }: Post, forMs: number): void {
    process.freeze();
    this.kernel.after(forMs, () => process.thaw());
  }

  #restart(post: Post, forMs: number): void {
    const { process } = post;
    if (!process.isWell) return;
    const end = (): void => {
      if (process !== post.process) return;
      process.kill();
      this.kernel.after(forMs, () => this.#start(post));
    };
    void post.stop().then(() => this.kernel.after(0, end, process));
    this.kernel.after(15_000, end);
  }

  /** What was committed in the last `lostMs` before the failover never happened, and nobody can be held to it. */
  #scheduleFailover(atMs: number, lostMs: number): void {
    this.kernel.after(Math.max(0, atMs - lostMs), () => {
      if (this.#isStopping) return;
      const snapshot = this.db.snapshot();
      this.kernel.after(lostMs, () => {
        this.tell('world', `failover loses the last ${lostMs} ms`);
        this.situations.count('failover');
        this.db.restore(snapshot);
        for (const id of this.promises.accepted) if (!this.db.jobs.has(id)) this.promises.accepted.delete(id);
        this.promises.cancels.clear();
      });
    });
  }

  #man(role: Role, count: number): void {
    for (let number = 0; number < count; number += 1) {
      const name = `${role}-${number}`;
      const process = new Process(name, this.kernel);
      const post: Post = { role, name, lives: 0, process, stop: async () => {}, intake: null };
      this.#posts.push(post);
      this.#start(post);
    }
  }

  /** A process that dies by its own fault (poison, or in the middle of a call) is started again as any other. */
  #start(post: Post): void {
    post.lives += 1;
    const skewMs = Math.round((this.#dice().next() * 2 - 1) * this.plan.skewMs);
    const process = new Process(`${post.name}.${post.lives}`, this.kernel, skewMs);
    post.process = process;
    this.tell('world', `${process.name} starts`);
    const ports = this.#portsOf(process);
    switch (post.role) {
      case 'api':
        post.intake = this.#startApi(process, ports);
        break;
      case 'worker':
        post.stop = this.#startWorker(process, ports);
        break;
      case 'reaper':
        post.stop = this.#startReaper(process, ports);
        break;
      case 'recorder':
        post.stop = this.#startRecorder(process, ports);
        break;
    }
    this.#watch(post, process);
  }

  #watch(post: Post, process: Process): void {
    this.kernel.after(1_000, () => {
      if (post.process !== process) return;
      if (process.isAlive) return this.#watch(post, process);
      this.kernel.after(500, () => (post.process === process ? this.#start(post) : undefined));
    });
  }

  #startApi(process: Process, ports: RemotePorts): Intake {
    const deps = { ...ports, ...this.#surroundings(process) };
    const publisher = new Publisher(deps);
    return {
      submitter: new Submitter({ ...deps, publisher }),
      commands: new JobCommands({ ...deps, publisher }),
    };
  }

  #startWorker(process: Process, ports: RemotePorts): () => Promise<void> {
    const deps = { ...ports, ...this.#surroundings(process) };
    const handlers = new HandlerRegistry();
    handlers.register(
      simulatedHandler(process, ({ job }) => {
        this.situations.count('execution');
        this.tell(process.name, `runs ${job.id.slice(-6)} #${job.attempt}`);
      }),
    );
    const worker = new Worker(
      { ...deps, publisher: new Publisher(deps), handlers, handlerLog: () => SILENT_LOG },
      {
        name: process.name,
        slots: this.plan.slots,
        policy: POLICY,
        limits: LIMITS,
        quarantineWaitMs: QUARANTINE_WAIT_MS,
        drainMs: 3_000,
        abortGraceMs: 1_000,
      },
    );
    this.#holders.set(worker.incarnation, process);
    void worker.start();
    void ports.notices.subscribe((notice) => (notice.kind === 'cancel' ? worker.cancel(notice.jobIds) : undefined));
    return () => worker.drain();
  }

  #startReaper(process: Process, ports: RemotePorts): () => Promise<void> {
    const deps = { ...ports, ...this.#surroundings(process) };
    const publisher = new Publisher(deps);
    const reaper = new Reaper({ ...deps, publisher }, { name: process.name, policy: POLICY });
    const promoter = new Promoter({ ...deps, publisher });
    const relay = new Relay({ ...deps, publisher });
    void ports.notices.subscribe((notice) => (notice.kind === 'due' ? promoter.nudge() : undefined));
    const loops: Pick<LoopSpec, 'name' | 'everyMs' | 'turn'>[] = [
      { name: 'reaper', everyMs: 1_000, turn: () => reaper.turn() },
      { name: 'promoter', everyMs: 1_000, turn: () => promoter.turn() },
      { name: 'wake-up', everyMs: 0, turn: (signal) => promoter.wakeTurn(signal) },
      { name: 'relay', everyMs: 1_000, turn: () => relay.turn() },
    ];
    const ending = new AbortController();
    const ends = loops.map((loop) => runLoop({ ...deps, ...loop, signal: ending.signal }));
    return async () => {
      ending.abort();
      await Promise.all(ends);
    };
  }

  #startRecorder(process: Process, ports: RemotePorts): () => Promise<void> {
    const recorder = new DeadLetterRecorder({ ...ports, ...this.#surroundings(process) });
    void recorder.start();
    return () => recorder.stop();
  }

  #portsOf(process: Process): RemotePorts {
    const far = <Port extends object>(port: Port, server: 'postgres' | 'redis'): Port =>
      remote(port, server, process, this.network);
    return {
      store: far(new MemoryJobStore(this.db), 'postgres'),
      registry: far(new MemoryWorkerRegistry(this.db), 'postgres'),
      leases: far(this.#leases, 'redis'),
      wakeUps: far(this.#wakeUps, 'redis'),
      transport: new RemoteTransport(this.#broker, this.network, process),
      notices: new RemoteNotices(new MemoryStoreNotices(this.db), this.network, process),
    };
  }

  #surroundings(process: Process): {
    clock: Process['clock'];
    random: SeededRandom;
    ids: SequenceIds;
    events: EngineEvents;
    rules: Rules;
  } {
    const random = this.#dice();
    const ids = new SequenceIds(process.clock, this.#streams);
    const events = { emit: (event: EngineEvent) => this.#hear(process, event) };
    return { clock: process.clock, random, ids, events, rules: { limits: LIMITS, random } };
  }

  #hear(process: Process, event: EngineEvent): void {
    if (!process.isAlive) return;
    const detail = 'reason' in event && event.reason !== null ? ` ${event.reason}` : '';
    if (event.kind !== 'loop-turned') this.situations.count(`${event.kind}${detail}`);
    if ('jobId' in event) this.tell(process.name, `${event.kind}${detail} ${event.jobId.slice(-6)}`);
  }

  /** A reap is false when the worker stands and runs the job all the same. It costs a run, and is counted. */
  #noteLapse(job: Job): void {
    this.situations.count('reap');
    const holder = this.#holders.get(job.claim?.workerId ?? '');
    if (holder?.isWell) this.situations.count('reap of a process that stands');
  }

  /** A stream of dice for each part, so that a change in one does not shift the others. */
  #dice(): SeededRandom {
    this.#streams += 1;
    return new SeededRandom(Math.imul(this.plan.seed, 0x9e3779b1) ^ Math.imul(this.#streams, 0x85ebca6b));
  }

  /** Dice for whoever drives this world. */
  driverDice(): SeededRandom {
    return this.#dice();
  }
}

const SILENT_LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
