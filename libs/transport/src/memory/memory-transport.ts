import { DeadmanError, Transport } from '@deadman/domain';
import type { Clock, DeathHandler, DeathNotice, OutboxEntry, Subscription, TicketSink } from '@deadman/domain';
import { BoundedLog } from './bounded-log.js';
import { DeathDelivery } from './death-delivery.js';
import { ReadyDelivery } from './ready-delivery.js';
import type { ReadyLog, TicketMessage } from './ready-delivery.js';

/** Ids in one ticket: what a micro-batch of 500 jobs leaves for each of a dozen partitions. */
const IDS_PER_TICKET = 50;

/** What can go wrong between sender and consumer; tests inject it. */
export interface TransportFaults {
  /** How often an acknowledged message arrives: 1 is calm, 0 loses it, 2 repeats it. */
  copies?(entry: OutboxEntry): number;
  /** False refuses every send, as an unreachable broker does. */
  isReachable?(): boolean;
}

export interface MemoryTransportOptions {
  /** Tickets that wait per queue; beyond, the oldest give way. Default 10 000. */
  readonly ticketLimit?: number;
  /** Deaths that wait; beyond, none is acknowledged. Default 10 000. */
  readonly deathLimit?: number;
  /** Pause after a batch of deaths was refused by its handler: the first, and the longest. Milliseconds, default 100 and 5 000. */
  readonly backoffBaseMs?: number;
  readonly backoffMaxMs?: number;
  readonly faults?: TransportFaults;
}

type Delivery = ReadyDelivery | DeathDelivery;

const DEFAULTS = {
  ticketLimit: 10_000,
  deathLimit: 10_000,
  backoffBaseMs: 100,
  backoffMaxMs: 5_000,
  faults: {},
} satisfies Required<MemoryTransportOptions>;

/**
 * Carries wake-ups inside one process. At least once: a ticket is forgotten when all its jobs are done, and goes to
 * another consumer when its own leaves before. Consumers of one queue share its tickets.
 *
 * Memory is bounded without risk to any job. A queue that nobody empties drops its oldest tickets: the idle claim makes
 * them good (`protocol.md` §5). A death that does not fit is not acknowledged, and its outbox row, which only the
 * recorder deletes, makes the relay send it again (§12).
 */
export class MemoryTransport extends Transport {
  readonly #clock: Clock;
  readonly #options: Required<MemoryTransportOptions>;
  readonly #ready = new Map<string, ReadyLog>();
  readonly #deaths: BoundedLog<DeathNotice>;
  readonly #deliveries = new Set<Delivery>();
  #droppedTickets = 0;
  #isClosed = false;

  constructor(clock: Clock, options: MemoryTransportOptions = {}) {
    super();
    this.#clock = clock;
    this.#options = { ...DEFAULTS, ...options };
    this.#deaths = new BoundedLog(this.#options.deathLimit);
  }

  /** Tickets that gave way to newer ones because nobody took them. */
  get droppedTickets(): number {
    return this.#droppedTickets;
  }

  /** Acknowledges what was queued. Nothing is, once the transport is closed or while `faults` make it unreachable. */
  override async publish(entries: readonly OutboxEntry[]): Promise<readonly string[]> {
    const { faults } = this.#options;
    if (this.#isClosed || faults.isReachable?.() === false) return [];
    const acknowledged = entries.filter((entry) => this.#append(entry, faults.copies?.(entry) ?? 1));
    for (const delivery of this.#deliveries) delivery.wake();
    return acknowledged.map(({ id }) => id);
  }

  /** Throws `transport-unavailable` once the transport is closed. */
  override async consumeReady(queues: readonly string[], sink: TicketSink): Promise<Subscription> {
    const logs = queues.map((queue) => ({ queue, log: this.#log(queue) }));
    const undoneLimit = this.#options.ticketLimit;
    return this.#start(() => new ReadyDelivery({ queues: logs, sink, clock: this.#clock, undoneLimit }));
  }

  /** Throws `transport-unavailable` once the transport is closed. */
  override async consumeDead(handler: DeathHandler): Promise<Subscription> {
    return this.#start(() => new DeathDelivery({ ...this.#options, log: this.#deaths, handler, clock: this.#clock }));
  }

  /** Ends every subscription, waiting for the delivery under way. Later sends are not acknowledged. Calling twice does nothing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#deliveries].map((delivery) => this.#end(delivery)));
  }

  /** Forgets every message, as a broker does whose disk was wiped. For tests. */
  wipe(): void {
    for (const log of this.#ready.values()) log.clear();
    this.#deaths.clear();
    for (const delivery of this.#deliveries) {
      if (delivery instanceof ReadyDelivery) delivery.forget();
    }
  }

  #start(make: () => Delivery): Subscription {
    if (this.#isClosed) throw new DeadmanError('transport-unavailable', 'The transport is closed');
    const delivery = make();
    this.#deliveries.add(delivery);
    return { pause: () => delivery.pause(), close: () => this.#end(delivery) };
  }

  async #end(delivery: Delivery): Promise<void> {
    this.#deliveries.delete(delivery);
    await delivery.close();
    for (const other of this.#deliveries) other.wake();
  }

  #append(entry: OutboxEntry, copies: number): boolean {
    let isQueued = true;
    for (let copy = 0; copy < copies; copy += 1) {
      isQueued = entry.kind === 'ready' ? this.#appendTickets(entry.queue, entry.jobIds) : this.#appendDeath(entry);
    }
    return isQueued;
  }

  #appendTickets(queue: string, jobIds: readonly string[]): true {
    const log = this.#log(queue);
    for (let from = 0; from < jobIds.length; from += IDS_PER_TICKET) {
      const dropped = log.appendOverOldest(jobIds.slice(from, from + IDS_PER_TICKET));
      if (dropped !== null) this.#droppedTickets += 1;
    }
    return true;
  }

  #appendDeath({ jobId, attempt }: DeathNotice): boolean {
    return this.#deaths.tryAppend({ jobId, attempt });
  }

  #log(queue: string): ReadyLog {
    const known = this.#ready.get(queue);
    if (known !== undefined) return known;
    const log: ReadyLog = new BoundedLog<TicketMessage>(this.#options.ticketLimit);
    this.#ready.set(queue, log);
    return log;
  }
}
