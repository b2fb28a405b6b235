import type { BeatReply, ClaimedJob, EngineEvent, HandlerContext } from '@deadman/domain';
import type { Worker } from '@deadman/engine';
import { MemoryEffectStore, MemoryStoreNotices, MemoryWorkerRegistry } from '@deadman/store';
import { Broker } from './broker.js';
import { DEFAULT_QUEUE, LIMITS, POLICY, QUEUES, servesBulk, startProgram, TTL_MS } from './deployment.js';
import type { Intake, Program, Role } from './deployment.js';
import { Dice } from './dice.js';
import { Executions } from './executions.js';
import type { Execution } from './executions.js';
import { SKEW_MARK } from './fault-marks.js';
import type { Fault, FaultPlan } from './fault-plan.js';
import { Historian } from './historian.js';
import { Injector } from './injector.js';
import type { Place } from './injector.js';
import { Invariants } from './invariants.js';
import type { WatchedWorld } from './invariants.js';
import { Kernel } from './kernel.js';
import { Network } from './network.js';
import { ObservedDatabase } from './observed-database.js';
import { ObservedStore } from './observed-store.js';
import { EPOCH_MS, Process, VirtualClock } from './process.js';
import { Promises } from './promises.js';
import { SimulatedRedis } from './redis.js';
import { RemoteEffects } from './remote-effects.js';
import { remote, RemoteNotices, RemoteTransport } from './remote-ports.js';
import type { RemotePorts } from './remote-ports.js';
import { JOB_TYPE, RARE_TYPE } from './sim-handler.js';
import type { RunListener } from './sim-handler.js';
import { Situations } from './situations.js';
import { Testimony } from './testimony.js';
import { WORLD } from './story.js';
import type { Story } from './story.js';

export type { Intake } from './deployment.js';

/** How soon somebody starts a process again that died by itself. Milliseconds. */
const RESTART_MS = 500;

/** Methods of the store that tell a worker of claims it has. */
const CLAIMS = new Set(['claim', 'claimIdle', 'findClaimed']);

/** A place in the deployment: whatever process stands there at the moment. */
interface Post {
  readonly role: Role;
  readonly name: string;
  /** Among those of its role. */
  readonly number: number;
  life: number;
  process: Process;
  program: Program;
  /** Somebody has already been told to start the next one. */
  isExpected: boolean;
}

/**
 * A whole deployment in one thread: the engine's real code in every process, in-memory adapters as its servers, and a
 * network between them that does what the plan says.
 */
export class World {
  readonly kernel = new Kernel();
  readonly situations = new Situations();
  readonly promises = new Promises();
  readonly executions = new Executions(this.kernel, TTL_MS, this.situations);
  readonly invariants: Invariants;
  readonly db: ObservedDatabase;
  readonly network: Network;
  readonly plan: FaultPlan;
  readonly dice: Dice;
  readonly historian: Historian;
  readonly #testimony = new Testimony(this);
  readonly #story: Story;
  readonly #databaseClock = new VirtualClock(this.kernel);
  readonly #redis = new SimulatedRedis(this.kernel);
  readonly #broker: Broker;
  readonly #injector: Injector;
  readonly #posts: Post[] = [];
  #lives = 0;
  #isCalm = false;

  constructor(plan: FaultPlan, story: Story) {
    this.plan = plan;
    this.dice = new Dice(plan.seed);
    this.#story = story;
    this.historian = new Historian(this, story);
    this.invariants = new Invariants(
      () => this.watched,
      (job) => this.historian.onLapse(job),
      (check, message) => this.historian.tellViolation(check, message),
    );
    this.db = new ObservedDatabase(this.#databaseClock, {
      onChange: (before, after) => {
        this.historian.onChange(before, after);
        this.invariants.onChange(before, after);
      },
      onEffectCommitted: (jobId, value) => this.invariants.onEffectCommitted(jobId, value),
      onCommit: () => this.invariants.onCommit(),
    });
    this.network = new Network(this.kernel, plan.network, this.historian, this.situations);
    const { kernel, network, situations } = this;
    this.#broker = new Broker({ kernel, network, situations, queues: QUEUES, offsetHoldMs: TTL_MS });
    this.#injector = new Injector({
      kernel,
      network,
      situations,
      db: this.db,
      executions: this.executions,
      invariants: this.invariants,
      promises: this.promises,
      redis: this.#redis,
      broker: this.#broker,
      databaseClock: this.#databaseClock,
      placeOf: (victim) => this.#placeOf(victim),
      tell: (what) => this.tell(WORLD, what),
    });
    this.#man('api', plan.apis);
    this.#man('worker', plan.workers);
    this.#man('reaper', plan.reapers);
    this.#man('recorder', 1);
  }

  /** The faults are over. */
  get isCalm(): boolean {
    return this.#isCalm;
  }

  /** How many there have been. */
  get failovers(): number {
    return this.#injector.failovers;
  }

  get hasFailedOver(): boolean {
    return this.failovers > 0;
  }

  get watched(): WatchedWorld {
    const { db, executions, promises } = this;
    const { nowMs } = this.kernel;
    return { db, nowMs, executions, promises, limits: LIMITS, ttlMs: TTL_MS, beatMs: POLICY.beatMs };
  }

  /** The api that a client's request goes to. It may be dead. */
  apiFor(dice: Dice): { readonly process: Process; readonly intake: Intake } {
    const { process, program } = dice.pick(this.#posts.filter(({ role }) => role === 'api'));
    return { process, intake: program.intake! };
  }

  processOf(incarnation: string): Process | undefined {
    return this.#posts.find(({ program }) => program.worker?.incarnation === incarnation)?.process;
  }

  tell(who: string, what: () => string): void {
    this.#story.tell(this.kernel.nowMs, who, what);
  }

  schedule(fault: Fault): void {
    this.#injector.schedule(fault);
  }

  /** The faults are over: every message arrives, every server answers, every process stands. */
  heal(): void {
    this.#isCalm = true;
    this.#injector.calm();
    this.network.calm();
    this.#broker.onReturn();
    for (const { process } of this.#posts) process.thaw();
    this.tell(WORLD, () => 'the faults are over');
  }

  #placeOf(victim: number): Place {
    const post = this.#posts[victim % this.#posts.length]!;
    return {
      role: post.role,
      name: post.name,
      get process() {
        return post.process;
      },
      stop: () => post.program.stop(),
      replace: (afterMs) => this.#replace(post, afterMs),
    };
  }

  #replace(post: Post, afterMs: number): void {
    post.process.kill();
    if (post.isExpected) return;
    post.isExpected = true;
    this.kernel.after(afterMs, () => this.#start(post));
  }

  #man(role: Role, count: number): void {
    for (let number = 0; number < count; number += 1) {
      const name = `${role}-${number}`;
      const process = new Process(name, name, this.kernel, this.dice);
      const program: Program = { stop: async () => {}, intake: null, worker: null };
      const post: Post = { role, name, number, life: 0, process, program, isExpected: true };
      this.#posts.push(post);
      this.#start(post);
    }
  }

  #start(post: Post): void {
    post.life += 1;
    post.isExpected = false;
    this.#lives += 1;
    const dice = this.dice.split(`${post.name}.${post.life}`);
    const skewMs = Math.round((dice.next() * 2 - 1) * this.plan.skewMs);
    const process = new Process(post.name, `${post.name}.${post.life}`, this.kernel, dice, skewMs);
    post.process = process;
    this.tell(WORLD, () => `${process.name} starts`);
    post.program = startProgram(post.role, {
      process,
      ports: this.#portsOf(process, process),
      startHeart: this.plan.hearts === 'local' ? null : () => this.#startHeart(process),
      kernel: this.kernel,
      life: this.#lives,
      slots: this.plan.slots,
      // Only the first worker has all handlers, so that some jobs can run nowhere else.
      jobTypes: post.number === 0 ? [JOB_TYPE, RARE_TYPE] : [JOB_TYPE],
      queues: servesBulk(post.number) ? QUEUES : [DEFAULT_QUEUE],
      hear: (event) => this.#hear(post, process, event),
      runs: (worker) => this.#listenTo(process, worker),
    });
    this.#watch(post, process);
  }

  /** A process that dies by its own fault (poison, or in the middle of a call) is started again as any other. */
  #watch(post: Post, process: Process): void {
    this.kernel.after(RESTART_MS, () => {
      if (post.process !== process) return;
      if (process.isAlive) this.#watch(post, process);
      else this.#replace(post, RESTART_MS);
    });
  }

  #listenTo(process: Process, worker: () => Worker): RunListener {
    return {
      onStart: (context) => this.#beginRun(process, worker().incarnation, context),
      onEffect: (execution) => {
        this.historian.onEffect(execution);
        this.invariants.onEffect(execution);
      },
      onChange: (execution) => this.invariants.onFire(execution),
      onStep: (execution, step) => {
        this.historian.onStep(execution, step);
        this.invariants.onStep(execution, step);
      },
      onValue: (execution, what, value) => this.invariants.onValue(execution, what, value),
      onEnd: (execution, hasReturned) => this.executions.end(execution, hasReturned),
    };
  }

  #beginRun(process: Process, incarnation: string, { job, signal }: HandlerContext): Execution {
    const claim = this.invariants.claims.get(`${job.id}/${job.attempt}`);
    if (Math.abs(process.clock.now().getTime() - EPOCH_MS - this.kernel.nowMs) >= 60_000)
      this.situations.count(SKEW_MARK);
    const execution = this.executions.begin({
      jobId: job.id,
      attempt: job.attempt,
      process,
      incarnation,
      alone: claim?.alone ?? false,
      signal,
    });
    this.historian.onStart(execution);
    this.invariants.onStart(execution);
    return execution;
  }

  #startHeart(main: Process): { readonly thread: Process; readonly ports: RemotePorts } {
    const thread = main.startThread('heart');
    return { thread, ports: this.#portsOf(thread, main) };
  }

  /** @param process the thread that has the connections, of the process that `main` is. */
  #portsOf(process: Process, main: Process): RemotePorts {
    const { db, situations, network } = this;
    const isRowLocked = (): boolean => network.isRowLocked(process);
    return {
      store: remote(
        new ObservedStore({ db, situations, isRowLocked }),
        'postgres',
        process,
        network,
        (method, _args, reply) => {
          if (CLAIMS.has(method)) this.executions.onClaimed(reply as readonly ClaimedJob[]);
        },
      ),
      registry: remote(new MemoryWorkerRegistry(db), 'postgres', process, network, (method, _args, reply, sentAtMs) => {
        if (method === 'beat') this.executions.onBeat(main, reply as BeatReply, sentAtMs);
      }),
      effects: new RemoteEffects(new MemoryEffectStore(db), network, process, TTL_MS),
      leases: remote(this.#redis.leases, 'redis', process, network, (method, [leases], reply, sentAtMs) => {
        if (method === 'renew') this.executions.onRenewal(main, leases as never, reply as never, sentAtMs);
      }),
      wakeUps: remote(this.#redis.wakeUps, 'redis', process, network),
      transport: new RemoteTransport(this.#broker, network, process),
      notices: new RemoteNotices(new MemoryStoreNotices(db), network, process),
    };
  }

  #hear(post: Post, process: Process, event: EngineEvent): void {
    if (!process.isAlive) return;
    const { worker } = post.program;
    this.historian.hear(process, worker, event);
    this.#testimony.hear(process, worker?.incarnation ?? '', event);
  }
}
