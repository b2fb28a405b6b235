import type { Broker } from './broker.js';
import type { Executions } from './executions.js';
import { TTL_MS } from './deployment.js';
import type { Role } from './deployment.js';
import { befellMark, longAbsenceMark, longStandstillMark } from './fault-marks.js';
import type { Absence, Severance, Standstill } from './fault-marks.js';
import type { Fault, OutageManner, ServerName } from './fault-plan.js';
import type { Invariants } from './invariants.js';
import type { Kernel } from './kernel.js';
import type { Network } from './network.js';
import type { ObservedDatabase } from './observed-database.js';
import type { Process, VirtualClock } from './process.js';
import type { Promises } from './promises.js';
import type { SimulatedRedis } from './redis.js';
import type { Situations } from './situations.js';

/** How long both servers are away in a blackout. Milliseconds. */
const BLACKOUT_OVERLAP_MS = 500;
/** How long a process that was told to stop may take before it is killed. Milliseconds. */
const STOP_WITHIN_MS = 15_000;

/** A place in the deployment: whatever process stands there at the moment. */
export interface Place {
  readonly role: Role;
  readonly name: string;
  readonly process: Process;
  /** Tells the process to stop; resolves when it has. */
  stop(): Promise<void>;
  /** Kills the process, and starts the next one after so long. Milliseconds. */
  replace(afterMs: number): void;
}

/** What faults are inflicted upon. */
export interface Victims {
  readonly kernel: Kernel;
  readonly network: Network;
  readonly redis: SimulatedRedis;
  readonly broker: Broker;
  readonly db: ObservedDatabase;
  readonly databaseClock: VirtualClock;
  readonly executions: Executions;
  readonly invariants: Invariants;
  readonly promises: Promises;
  readonly situations: Situations;
  readonly placeOf: (victim: number) => Place;
  readonly tell: (what: () => string) => void;
}

type FaultOf<Kind extends Fault['kind']> = Extract<Fault, { readonly kind: Kind }>;

interface Absent {
  readonly server: ServerName;
  readonly manner: OutageManner;
  readonly by: Absence;
  readonly forMs: number;
}

/** Does to the world what its plan says, and counts for each fault where it took effect (`fault-marks.ts`). */
export class Injector {
  readonly #victims: Victims;
  #failovers = 0;
  #isCalm = false;

  constructor(victims: Victims) {
    this.#victims = victims;
  }

  /** How many failovers there have been. */
  get failovers(): number {
    return this.#failovers;
  }

  schedule(fault: Fault): void {
    if (fault.kind === 'failover') this.#scheduleFailover(fault);
    else this.#victims.kernel.after(fault.atMs, () => this.#inflict(fault));
  }

  /** Nothing that was scheduled happens any more. */
  calm(): void {
    this.#isCalm = true;
  }

  #inflict(fault: Exclude<Fault, { readonly kind: 'failover' }>): void {
    if (this.#isCalm) return;
    switch (fault.kind) {
      case 'kill':
        return this.#kill(fault);
      case 'freeze':
        return this.#freeze(fault);
      case 'block':
        return this.#block(fault);
      case 'restart':
        return this.#restart(fault);
      case 'outage':
        return this.#outage(fault);
      case 'blackout':
        return this.#blackout(fault);
      case 'cut':
        return this.#cut('cut', this.#victims.placeOf(fault.victim).name, fault.server, fault.forMs);
      case 'redis-flush':
        this.#victims.tell(() => 'Redis is flushed');
        return this.#mark('redis-flush: a lease lost', this.#victims.redis.empty());
      case 'redis-rewind':
        this.#victims.tell(() => `Redis loses its last ${fault.lostMs} ms`);
        return this.#mark('redis-rewind: a write lost', this.#victims.redis.rewind(fault.lostMs));
      case 'kafka-wipe':
        this.#victims.tell(() => 'Kafka is wiped');
        return this.#mark('kafka-wipe: a message lost', this.#victims.broker.wipe());
      case 'rebalance':
        this.#victims.tell(() => 'a rebalance');
        return this.#victims.broker.rebalance(true);
    }
  }

  #kill({ victim, forMs }: FaultOf<'kill'>): void {
    const place = this.#victims.placeOf(victim);
    const { process, role } = place;
    const runs = this.#victims.executions.atWorkOn(process).length;
    const wasAlive = process.isAlive;
    this.#victims.tell(() => `${process.name} is killed, and started again after ${forMs} ms`);
    place.replace(forMs);
    if (!wasAlive || process.isAlive) return;
    this.#mark('kill: a run ended', runs);
    this.#mark(befellMark('kill', role));
  }

  #freeze({ victim, forMs, cutMs }: FaultOf<'freeze'>): void {
    const { placeOf, tell } = this.#victims;
    const { name, process, role } = placeOf(victim);
    tell(() => `${process.name} stands still for ${forMs} ms`);
    this.#standStill('freeze', process.freeze(), forMs);
    if (process.isFrozen) this.#mark(befellMark('freeze', role));
    if (cutMs > 0) this.#cut('freeze', name, 'postgres', forMs + cutMs);
  }

  #block({ victim, forMs }: FaultOf<'block'>): void {
    const { placeOf, tell } = this.#victims;
    const { process } = placeOf(victim);
    tell(() => `the main thread of ${process.name} is blocked for ${forMs} ms`);
    this.#standStill('block', process.block(), forMs);
  }

  /** @param release lets go of the process, and says how much came meanwhile. */
  #standStill(by: Standstill, release: () => number, forMs: number): void {
    const { kernel } = this.#victims;
    const sinceMs = kernel.nowMs;
    kernel.after(forMs, () => {
      const heldUp = release();
      this.#mark(`${by}: an event held up`, heldUp);
      if (heldUp > 0 && kernel.nowMs - sinceMs > TTL_MS) this.#mark(longStandstillMark(by));
    });
  }

  #restart({ victim, forMs }: FaultOf<'restart'>): void {
    const { kernel, placeOf, tell } = this.#victims;
    const place = placeOf(victim);
    const { process } = place;
    if (!process.isWell) return;
    tell(() => `${process.name} is told to stop`);
    process.isStopping = true;
    const end = (): boolean => {
      const isThere = process === place.process;
      if (isThere) place.replace(forMs);
      return isThere;
    };
    void place.stop().then(() =>
      kernel.after(
        0,
        () => {
          if (end()) this.#mark('restart: ended when told to');
        },
        process,
      ),
    );
    kernel.after(STOP_WITHIN_MS, end);
  }

  #outage({ server, manner, forMs, isEmptied }: FaultOf<'outage'>): void {
    const { redis, broker } = this.#victims;
    this.#takeDown({ server, manner, forMs, by: 'outage' });
    if (isEmptied && server === 'redis') this.#mark('outage: a lease lost', redis.empty());
    if (isEmptied && server === 'kafka') this.#mark('outage: a message lost', broker.wipe());
  }

  #blackout({ forMs, lagMs }: FaultOf<'blackout'>): void {
    const { kernel, network } = this.#victims;
    const away = { manner: 'refuses', by: 'blackout' } as const;
    this.#takeDown({ ...away, server: 'postgres', forMs });
    kernel.after(Math.max(0, forMs - BLACKOUT_OVERLAP_MS), () => {
      if (!this.#isCalm) this.#takeDown({ ...away, server: 'redis', forMs: BLACKOUT_OVERLAP_MS + lagMs });
    });
    kernel.after(forMs, () => {
      if (network.isUp('postgres') && !network.isUp('redis')) this.#mark('blackout: Postgres back before Redis');
    });
  }

  #takeDown({ server, manner, by, forMs }: Absent): void {
    const { kernel, network, tell } = this.#victims;
    tell(() => `${server} ${manner === 'silent' ? 'falls silent' : 'is down'} for ${forMs} ms`);
    const sinceMs = kernel.nowMs;
    const end = network.takeDown(server, manner, by);
    kernel.after(forMs, () => {
      if (!network.isUp(server) && kernel.nowMs - sinceMs >= 1_000) this.#mark(longAbsenceMark(by));
      end();
      this.#onEnd(server);
    });
  }

  /** Something that kept a server away is over; something else may still do. */
  #onEnd(server: ServerName): void {
    const { network, broker, tell } = this.#victims;
    if (!network.isUp(server)) return;
    tell(() => `${server} is there again`);
    if (server === 'kafka') broker.onReturn();
  }

  #cut(by: Severance, place: string, server: ServerName, forMs: number): void {
    const { kernel, network, tell } = this.#victims;
    tell(() => `${place} is cut off from ${server} for ${forMs} ms`);
    kernel.after(forMs, network.cut(place, server, by));
  }

  /** What was committed in the last `lostMs` before the failover never happened, and nobody can be held to it. */
  #scheduleFailover(fault: FaultOf<'failover'>): void {
    const { kernel, db, invariants } = this.#victims;
    const { atMs, lostMs } = fault;
    kernel.after(Math.max(0, atMs - lostMs), () => {
      if (this.#isCalm) return;
      const generation = this.#failovers;
      const replica = { snapshot: db.snapshot(), seen: invariants.remember() };
      kernel.after(Math.min(atMs, lostMs), () => {
        // A snapshot of a server that has been replaced since is of no use.
        if (generation === this.#failovers && !this.#isCalm) this.#failOver(replica, fault);
      });
    });
  }

  #failOver(
    replica: {
      readonly snapshot: ReturnType<ObservedDatabase['snapshot']>;
      readonly seen: ReturnType<Invariants['remember']>;
    },
    { lostMs, forMs, stepMs }: FaultOf<'failover'>,
  ): void {
    const { db, databaseClock, invariants, promises, tell } = this.#victims;
    this.#failovers += 1;
    tell(() => `Postgres fails over, loses its last ${lostMs} ms, and is there after ${forMs} ms`);
    this.#mark('failover: a commit lost', db.restore(replica.snapshot));
    const wasMs = db.now().getTime();
    databaseClock.step(stepMs);
    const isMs = db.now().getTime();
    if (Math.abs(isMs - wasMs) >= 100)
      this.#mark(isMs < wasMs ? 'failover: the clock set back' : 'failover: the clock set ahead');
    invariants.onFailover(replica.seen.deaths, replica.seen.exits);
    promises.forgetWhatIsLost(db.jobs);
    this.#takeDown({ server: 'postgres', manner: 'refuses', by: 'failover', forMs });
  }

  #mark(what: string, by = 1): void {
    if (by > 0) this.#victims.situations.count(what, by);
  }
}
