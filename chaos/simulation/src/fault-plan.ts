import type { Dice } from './dice.js';

/** What can be done to the world. Each is data, so that a failing plan can be made smaller. Times in milliseconds. */
export type Fault =
  /** A process dies on the spot and another of its kind starts after `forMs`. */
  | { readonly kind: 'kill'; readonly atMs: number; readonly victim: number; readonly forMs: number }
  /** A process stands still for `forMs`, and then hears nothing from Postgres for `cutMs`: a machine that was moved. */
  | {
      readonly kind: 'freeze';
      readonly atMs: number;
      readonly victim: number;
      readonly forMs: number;
      readonly cutMs: number;
    }
  /** The main thread of a process stands still for `forMs`, as a handler can make it. */
  | { readonly kind: 'block'; readonly atMs: number; readonly victim: number; readonly forMs: number }
  /** A process is told to stop, hands over what it holds, and another starts. */
  | { readonly kind: 'restart'; readonly atMs: number; readonly victim: number; readonly forMs: number }
  /** A server is away for everybody. `refuses`: callers are told at once; `silent`: they hear nothing. */
  | {
      readonly kind: 'outage';
      readonly atMs: number;
      readonly server: ServerName;
      readonly manner: OutageManner;
      readonly forMs: number;
      /** Redis and Kafka come back with nothing. Postgres never does. */
      readonly isEmptied: boolean;
    }
  /** Postgres is away for everybody, Redis goes away shortly before that is over and comes back `lagMs` after it: a rack that boots. */
  | { readonly kind: 'blackout'; readonly atMs: number; readonly forMs: number; readonly lagMs: number }
  /** One process hears nothing from a server, and the server nothing from it. */
  | {
      readonly kind: 'cut';
      readonly atMs: number;
      readonly victim: number;
      readonly server: ServerName;
      readonly forMs: number;
    }
  /** Redis loses everything, and goes on. */
  | { readonly kind: 'redis-flush'; readonly atMs: number }
  /** Redis dies and returns without what it was told in its last `lostMs`. */
  | { readonly kind: 'redis-rewind'; readonly atMs: number; readonly lostMs: number }
  /** Kafka loses every message and every offset. */
  | { readonly kind: 'kafka-wipe'; readonly atMs: number }
  /** Partitions are dealt anew although nobody came or went. */
  | { readonly kind: 'rebalance'; readonly atMs: number }
  /** Postgres fails over to a replica that misses the last `lostMs`, is there after `forMs`, and whose clock differs by `stepMs`. */
  | {
      readonly kind: 'failover';
      readonly atMs: number;
      readonly lostMs: number;
      readonly forMs: number;
      readonly stepMs: number;
    };

export type FaultKind = Fault['kind'];

export const FAULT_KINDS: readonly FaultKind[] = [
  'kill',
  'freeze',
  'block',
  'restart',
  'outage',
  'blackout',
  'cut',
  'redis-flush',
  'redis-rewind',
  'kafka-wipe',
  'rebalance',
  'failover',
];

export const SERVERS = ['postgres', 'redis', 'kafka'] as const;
export type ServerName = (typeof SERVERS)[number];
export type OutageManner = 'refuses' | 'silent';

/** Chances per message, 0 to 1. */
export interface NetworkFaults {
  /** The request never arrives. */
  readonly requestLost: number;
  /** The request is carried out and its reply never arrives. */
  readonly replyLost: number;
  /** The sender is told of a broken connection, and the request arrives seconds later. */
  readonly requestDelayed: number;
  /** The request arrives twice. */
  readonly requestDoubled: number;
  /** The sender dies in the moment after the request was carried out. */
  readonly senderKilled: number;
  /** Postgres breaks a statement off (a deadlock, a timeout) and changes nothing. */
  readonly statementRefused: number;
  /** A row that a scan would take is held by somebody else at that moment. */
  readonly rowLocked: number;
}

export interface FaultPlan {
  readonly seed: number;
  /** While faults happen; afterwards everything has to come to its end. Milliseconds. */
  readonly untilMs: number;
  /** Numbers of the jobs that clients submit: each number has its own script, whichever others there are. */
  readonly jobs: readonly number[];
  /** Job 0 kills its process each time. */
  readonly hasPoison: boolean;
  readonly apis: number;
  readonly workers: number;
  readonly slots: number;
  /** Whether workers beat in their main thread, or in one of its own. */
  readonly hearts: 'local' | 'thread';
  readonly reapers: number;
  readonly network: NetworkFaults;
  readonly faults: readonly Fault[];
  /** Wall clocks of processes are wrong by up to this much. Milliseconds. */
  readonly skewMs: number;
}

export const CALM: NetworkFaults = {
  requestLost: 0,
  replyLost: 0,
  requestDelayed: 0,
  requestDoubled: 0,
  senderKilled: 0,
  statementRefused: 0,
  rowLocked: 0,
};

/**
 * A plan from a seed. Each plan leaves out a random half of the kinds of fault: what many faults together hide, a few
 * alone may show (swarm testing, Groce and others, 2012).
 */
export function planFaults(dice: Dice): FaultPlan {
  const untilMs = dice.integer(15_000, 45_000);
  const kinds = FAULT_KINDS.filter(() => dice.chance(0.5));
  const pace = dice.pick([2_000, 4_000, 8_000]);
  const apart = Array.from({ length: kinds.length === 0 ? 0 : Math.floor(untilMs / pace) }, () =>
    planFault(dice.pick(kinds), untilMs, dice),
  );
  const faults = apart.map((fault) => (dice.chance(0.3) ? besideAnother(fault, apart, dice) : fault));
  return {
    seed: dice.seed,
    untilMs,
    jobs: Array.from({ length: dice.integer(5, 45) }, (_, number) => number),
    hasPoison: dice.chance(0.06),
    apis: dice.integer(1, 2),
    workers: dice.integer(1, 4),
    slots: dice.pick([1, 2, 4, 8]),
    hearts: dice.pick(['local', 'thread']),
    reapers: dice.integer(1, 3),
    network: planNetwork(dice),
    faults: faults.toSorted((one, other) => one.atMs - other.atMs),
    skewMs: dice.chance(0.3) ? 300_000 : 0,
  };
}

/** Faults come in clusters: this one happens about when another one ends. */
function besideAnother(fault: Fault, others: readonly Fault[], dice: Dice): Fault {
  const other = dice.pick(others);
  const endsAtMs = other.atMs + ('forMs' in other ? other.forMs : 0);
  return { ...fault, atMs: Math.max(0, endsAtMs + dice.integer(-500, 1_000)) };
}

function planNetwork(dice: Dice): NetworkFaults {
  const chance = dice.pick([0.003, 0.015, 0.04]);
  const of = (scale: number): number => (dice.chance(0.5) ? chance * scale : 0);
  const planned: NetworkFaults = {
    requestLost: of(1),
    replyLost: of(1),
    requestDelayed: of(0.5),
    requestDoubled: of(0.5),
    senderKilled: of(0.2),
    statementRefused: of(1),
    rowLocked: of(5),
  };
  return dice.chance(0.2) ? CALM : planned;
}

function planFault(kind: FaultKind, untilMs: number, dice: Dice): Fault {
  const atMs = dice.integer(500, untilMs);
  const victim = dice.integer(0, 1_000);
  switch (kind) {
    case 'kill':
    case 'restart':
      return { kind, atMs, victim, forMs: dice.integer(100, 8_000) };
    case 'freeze':
      return { kind, atMs, victim, forMs: dice.integer(500, 16_000), cutMs: dice.pick([0, 0, 0, 6_000, 12_000]) };
    case 'block':
      return { kind, atMs, victim, forMs: dice.integer(500, 16_000) };
    case 'outage':
      return planOutage(atMs, dice);
    case 'blackout':
      return { kind, atMs, forMs: dice.integer(1_000, 16_000), lagMs: dice.integer(500, 8_000) };
    case 'cut':
      return { kind, atMs, victim, server: dice.pick(SERVERS), forMs: dice.integer(500, 16_000) };
    case 'redis-rewind':
      return { kind, atMs, lostMs: dice.integer(100, 2_000) };
    case 'failover':
      return {
        kind,
        atMs,
        lostMs: dice.integer(10, 1_000),
        forMs: dice.integer(0, 6_000),
        stepMs: dice.integer(-1_000, 1_000),
      };
    default:
      return { kind, atMs };
  }
}

function planOutage(atMs: number, dice: Dice): Fault {
  const server = dice.pick(SERVERS);
  return {
    kind: 'outage',
    atMs,
    server,
    manner: dice.pick(['refuses', 'silent']),
    forMs: dice.integer(200, 16_000),
    isEmptied: server !== 'postgres' && dice.chance(0.3),
  };
}
