import type { BeatReply, ClaimedJob, EngineEvent, HandlerContext } from '@deadman/domain';
import type { Worker } from '@deadman/engine';
import { MemoryEffectStore, MemoryStoreNotices, MemoryWorkerRegistry } from '@deadman/store';
import { Broker } from './broker.js';
import { LIMITS, POLICY, startProgram, TTL_MS } from './deployment.js';
import type { Intake, Program, Role } from './deployment.js';
import { Dice } from './dice.js';
import { Executions } from './executions.js';
import type { Execution } from './executions.js';
import type { Fault, FaultPlan, ServerName } from './fault-plan.js';
import { Historian } from './historian.js';
import { Invariants } from './invariants.js';
import type { WatchedWorld } from './invariants.js';
import { Kernel } from './kernel.js';
import { Network } from './network.js';
import { ObservedDatabase } from './observed-database.js';
import { ObservedStore } from './observed-store.js';
import { Process, VirtualClock } from './process.js';
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
/** How long both servers are away in a blackout. Milliseconds. */
const BLACKOUT_OVERLAP_MS = 500;
/** How long a process that was told to stop may take before it is killed. Milliseconds. */
const STOP_WITHIN_MS = 15_000;

/** Methods of the store that tell a worker of claims it has. */
const CLAIMS = new Set(['claim', 'claimIdle', 'findClaimed']);

/** A place in the deployment: whatever process stands there at the moment. */
interface Post {
  readonly role: Role;
  readonly name: string;
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
  readonly #posts: Post[] = [];
  #lives = 0;
  #failovers = 0;
  #isCalm = false;

  constructor(plan: FaultPlan, story: Story) {
    this.plan = plan;
    this.dice = new Dice(plan.seed);
    this.#story = story;
    this.historian = new Historian(this, story);
    this.invariants = new Invariants(
      () => this.watched,
      (job) => this.historian.onLapse(job),
    );
    this.db = new ObservedDatabase(this.#databaseClock, {
      onChange: (before, after) => {
        this.historian.onChange(before, after);
        this.invariants.onChange(before, after);
      },
      onEffectCommitted: (jobId, value) => this.invariants.onEffectCommitted(jobId, value),
      onCommit: () => this.invariants.onCommit(),
    });
    this.network = new Network(this.kernel, plan.network, this.historian);
    this.#broker = new Broker(this.kernel, this.network, this.situations, TTL_MS);
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
    return this.#failovers;
  }

  get hasFailedOver(): boolean {
    return this.#failovers > 0;
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
    if (fault.kind === 'failover') this.#scheduleFailover(fault);
    else this.kernel.after(fault.atMs, () => this.#inflict(fault));
  }

  /** The faults are over: every message arrives, every server answers, every process stands. */
  heal(): void {
    this.#isCalm = true;
    this.network.calm();
    this.#broker.onReturn();
    for (const { process } of this.#posts) process.thaw();
    this.tell(WORLD, () => 'the faults are over');
  }

  #inflict(fault: Exclude<Fault, { kind: 'failover' }>): void {
    if (this.#isCalm) return;
    switch (fault.kind) {
      case 'kill':
        return this.#kill(this.#victim(fault.victim), fault.forMs);
      case 'freeze':
        return this.#freeze(this.#victim(fault.victim), fault);
      case 'block':
        return this.#block(this.#victim(fault.victim).process, fault.forMs);
      case 'restart':
        return this.#restart(this.#victim(fault.victim), fault.forMs);
      case 'outage':
        return this.#outage(fault);
      case 'blackout':
        return this.#blackout(fault);
      case 'cut':
        return this.#cut(this.#victim(fault.victim).name, fault.server, fault.forMs);
      case 'redis-flush':
        this.tell(WORLD, () => 'Redis is flushed');
        return this.#redis.empty();
      case 'redis-rewind':
        this.tell(WORLD, () => `Redis loses its last ${fault.lostMs} ms`);
        return this.#redis.rewind(fault.lostMs);
      case 'kafka-wipe':
        this.tell(WORLD, () => 'Kafka is wiped');
        return this.#broker.wipe();
      case 'rebalance':
        this.tell(WORLD, () => 'a rebalance');
        return this.#broker.rebalance();
    }
  }

  #victim(number: number): Post {
    return this.#posts[number % this.#posts.length]!;
  }

  #kill(post: Post, forMs: number): void {
    this.tell(WORLD, () => `${post.process.name} is killed, and started again after ${forMs} ms`);
    this.#replace(post, forMs);
  }

  #replace(post: Post, forMs: number): void {
    post.process.kill();
    if (post.isExpected) return;
    post.isExpected = true;
    this.kernel.after(forMs, () => this.#start(post));
  }

  #freeze({ name, process }: Post, { forMs, cutMs }: Fault & { kind: 'freeze' }): void {
    this.tell(WORLD, () => `${process.name} stands still for ${forMs} ms`);
    process.freeze();
    if (cutMs > 0) this.#cut(name, 'postgres', forMs + cutMs);
    this.kernel.after(forMs, () => process.thaw());
  }

  #block(process: Process, forMs: number): void {
    this.tell(WORLD, () => `the main thread of ${process.name} is blocked for ${forMs} ms`);
    process.block();
    this.kernel.after(forMs, () => process.thaw());
  }

  #restart(post: Post, forMs: number): void {
    const { process, program } = post;
    if (!process.isWell) return;
    this.tell(WORLD, () => `${process.name} is told to stop`);
    process.isStopping = true;
    const end = (): void => {
      if (process === post.process) this.#replace(post, forMs);
    };
    void program.stop().then(() => this.kernel.after(0, end, process));
    this.kernel.after(STOP_WITHIN_MS, end);
  }

  #outage({ server, manner, forMs, isEmptied }: Fault & { kind: 'outage' }): void {
    this.tell(WORLD, () => `${server} ${manner === 'silent' ? 'falls silent' : 'is down'} for ${forMs} ms`);
    this.network.takeDown(server, manner);
    if (isEmptied && server === 'redis') this.#redis.empty();
    if (isEmptied && server === 'kafka') this.#broker.wipe();
    this.kernel.after(forMs, () => this.#bringUp(server));
  }

  #blackout({ atMs, forMs, lagMs }: Fault & { kind: 'blackout' }): void {
    const silent = { kind: 'outage', manner: 'refuses', isEmptied: false, atMs } as const;
    this.#outage({ ...silent, server: 'postgres', forMs });
    this.kernel.after(Math.max(0, forMs - BLACKOUT_OVERLAP_MS), () => {
      if (!this.#isCalm) this.#outage({ ...silent, server: 'redis', forMs: BLACKOUT_OVERLAP_MS + lagMs });
    });
  }

  #bringUp(server: ServerName): void {
    this.tell(WORLD, () => `${server} is there again`);
    this.network.bringUp(server);
    if (server === 'kafka') this.#broker.onReturn();
  }

  #cut(post: string, server: ServerName, forMs: number): void {
    this.tell(WORLD, () => `${post} is cut off from ${server} for ${forMs} ms`);
    this.network.cut(post, server);
    this.kernel.after(forMs, () => this.network.mend(post, server));
  }

  /** What was committed in the last `lostMs` before the failover never happened, and nobody can be held to it. */
  #scheduleFailover({ atMs, lostMs, forMs, stepMs }: Fault & { kind: 'failover' }): void {
    this.kernel.after(Math.max(0, atMs - lostMs), () => {
      if (this.#isCalm) return;
      const generation = this.#failovers;
      const snapshot = this.db.snapshot();
      const seen = this.invariants.remember();
      this.kernel.after(Math.min(atMs, lostMs), () => {
        // A snapshot of a server that has been replaced since is of no use.
        if (generation !== this.#failovers || this.#isCalm) return;
        this.#failovers += 1;
        this.tell(WORLD, () => `Postgres fails over, loses its last ${lostMs} ms, and is there after ${forMs} ms`);
        this.situations.count('failover');
        this.db.restore(snapshot);
        this.#databaseClock.step(stepMs);
        this.invariants.onFailover(seen.deaths, seen.exits);
        this.promises.forgetWhatIsLost(this.db.jobs);
        this.network.takeDown('postgres', 'refuses');
        this.kernel.after(forMs, () => this.#bringUp('postgres'));
      });
    });
  }

  #man(role: Role, count: number): void {
    for (let number = 0; number < count; number += 1) {
      const name = `${role}-${number}`;
      const process = new Process(name, name, this.kernel, this.dice);
      const program: Program = { stop: async () => {}, intake: null, worker: null };
      const post: Post = { role, name, life: 0, process, program, isExpected: true };
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
      jobTypes: post.name === 'worker-0' ? [JOB_TYPE, RARE_TYPE] : [JOB_TYPE],
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
      onEnd: (execution, hasReturned) => this.executions.end(execution, hasReturned),
    };
  }

  #beginRun(process: Process, incarnation: string, { job, signal }: HandlerContext): Execution {
    const claim = this.invariants.claims.get(`${job.id}/${job.attempt}`);
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
