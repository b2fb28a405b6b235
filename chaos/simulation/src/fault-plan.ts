import type { SeededRandom } from '@deadman/testing';

/** What can be done to the world. Each is data, so that a failing plan can be made smaller. */
export type Fault =
  /** A process dies on the spot and another of its kind starts after `forMs`. */
  | { readonly kind: 'kill'; readonly atMs: number; readonly victim: number; readonly forMs: number }
  /** A process stands still for `forMs`. */
  | { readonly kind: 'freeze'; readonly atMs: number; readonly victim: number; readonly forMs: number }
  /** A process is told to stop, hands over what it holds, and another starts. */
  | { readonly kind: 'restart'; readonly atMs: number; readonly victim: number; readonly forMs: number }
  /** A server answers nobody for `forMs`. */
  | { readonly kind: 'outage'; readonly atMs: number; readonly server: ServerName; readonly forMs: number }
  /** Redis loses everything. */
  | { readonly kind: 'redis-flush'; readonly atMs: number }
  /** Redis forgets what it was told in its last second. */
  | { readonly kind: 'redis-rewind'; readonly atMs: number }
  /** Kafka loses every message and every offset. */
  | { readonly kind: 'kafka-wipe'; readonly atMs: number }
  /** Partitions are dealt anew although nobody came or went. */
  | { readonly kind: 'rebalance'; readonly atMs: number }
  /** Postgres fails over to a replica that misses what was committed in the last `lostMs`. */
  | { readonly kind: 'failover'; readonly atMs: number; readonly lostMs: number };

export type FaultKind = Fault['kind'];

export const FAULT_KINDS: readonly FaultKind[] = [
  'kill',
  'freeze',
  'restart',
  'outage',
  'redis-flush',
  'redis-rewind',
  'kafka-wipe',
  'rebalance',
  'failover',
];

export const SERVERS = ['postgres', 'redis', 'kafka'] as const;
export type ServerName = (typeof SERVERS)[number];

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
}

export interface FaultPlan {
  readonly seed: number;
  /** While faults happen; afterwards everything has to come to its end. Milliseconds. */
  readonly untilMs: number;
  readonly jobs: number;
  readonly workers: number;
  readonly slots: number;
  readonly reapers: number;
  readonly network: NetworkFaults;
  readonly faults: readonly Fault[];
  /** Wall clocks of processes are wrong by up to this much. Milliseconds. */
  readonly skewMs: number;
}

const CALM: NetworkFaults = { requestLost: 0, replyLost: 0, requestDelayed: 0, requestDoubled: 0, senderKilled: 0 };

/**
 * A plan from a seed. Each plan leaves out a random half of the kinds of fault: what many faults together hide, a few
 * alone may show (swarm testing, Groce and others, 2012).
 */
export function planFaults(random: SeededRandom): FaultPlan {
  const untilMs = random.integer(20_000, 60_000);
  const kinds = FAULT_KINDS.filter(() => random.next() < 0.5);
  const pace = random.pick([3_000, 6_000, 12_000]);
  const faults = Array.from({ length: kinds.length === 0 ? 0 : Math.floor(untilMs / pace) }, () =>
    planFault(random.pick(kinds), untilMs, random),
  );
  return {
    seed: random.seed,
    untilMs,
    jobs: random.integer(5, 60),
    workers: random.integer(1, 4),
    slots: random.pick([1, 2, 4, 8]),
    reapers: random.integer(1, 3),
    network: planNetwork(random),
    faults: faults.toSorted((one, other) => one.atMs - other.atMs),
    skewMs: random.next() < 0.3 ? 300_000 : 0,
  };
}

function planNetwork(random: SeededRandom): NetworkFaults {
  const chance = random.pick([0.002, 0.01, 0.03]);
  const of = (scale: number): number => (random.next() < 0.5 ? chance * scale : 0);
  if (random.next() < 0.2) return CALM;
  return {
    requestLost: of(1),
    replyLost: of(1),
    requestDelayed: of(0.5),
    requestDoubled: of(0.5),
    senderKilled: of(0.2),
  };
}

function planFault(kind: FaultKind, untilMs: number, random: SeededRandom): Fault {
  const atMs = random.integer(500, untilMs);
  const victim = random.integer(0, 1_000);
  switch (kind) {
    case 'kill':
    case 'restart':
      return { kind, atMs, victim, forMs: random.integer(100, 10_000) };
    case 'freeze':
      return { kind, atMs, victim, forMs: random.integer(500, 20_000) };
    case 'outage':
      return { kind, atMs, server: random.pick(SERVERS), forMs: random.integer(200, 20_000) };
    case 'failover':
      return { kind, atMs, lostMs: random.integer(10, 1_000) };
    default:
      return { kind, atMs };
  }
}
