import type { Clock, Subscription, Ticket, TicketSink } from '@deadman/domain';
import { Bell, nextTurn } from './bell.js';
import type { BoundedLog } from './bounded-log.js';

/** Tickets that are handed over before other work of the process gets its turn. */
const TICKETS_PER_TURN = 100;

/** Pause when a sink refuses although it has just told of room, as one that is closing does. Milliseconds. */
const REFUSAL_PAUSE_MS = 10;

/** The job ids of one ticket. */
export type TicketMessage = readonly string[];
export type ReadyLog = BoundedLog<TicketMessage>;

/** A ticket whose jobs are not all done. */
interface Delivery {
  readonly log: ReadyLog;
  readonly undone: Set<string>;
}

/** A queue's name and what waits in it. */
export interface ReadyQueue {
  readonly queue: string;
  readonly log: ReadyLog;
}

export interface ReadyDeliveryOptions {
  readonly queues: readonly ReadyQueue[];
  readonly sink: TicketSink;
  readonly clock: Clock;
  /** Delivered tickets that are remembered until they are done; beyond, the oldest are taken as done. */
  readonly undoneLimit: number;
}

/** Hands the tickets of some queues to one sink, queue by queue in turn, and stands still while the sink is full. */
export class ReadyDelivery implements Subscription {
  readonly #options: ReadyDeliveryOptions;
  readonly #bell = new Bell();
  readonly #stopping = new AbortController();
  readonly #deliveries = new Set<Delivery>();
  readonly #running: Promise<void>;
  #turn = 0;
  /** The sink told of room and has taken nothing since. */
  #wasToldOfRoom = false;

  constructor(options: ReadyDeliveryOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Says that a log may have something new. */
  wake(): void {
    this.#bell.ring();
  }

  /** Forgets what was delivered, as a broker does that lost its memory. */
  forget(): void {
    this.#deliveries.clear();
  }

  /** Stops after the tickets that are being handed over. What was handed over stays here until it is done, or until `close`. */
  async pause(): Promise<void> {
    this.#stopping.abort();
    this.#bell.ring();
    await this.#running;
  }

  /** Stops, and returns what is not done to its queue for others. */
  async close(): Promise<void> {
    await this.pause();
    for (const { log } of this.#options.queues) {
      const undone = [...this.#deliveries].filter((delivery) => delivery.log === log);
      log.putBack(undone.map((delivery) => [...delivery.undone]));
    }
    this.#deliveries.clear();
  }

  async #run(): Promise<void> {
    await nextTurn();
    while (!this.#stopping.signal.aborted) {
      const stoppedBy = this.#deliverSome();
      if (stoppedBy === 'nothing-left') await this.#bell.wait();
      if (stoppedBy === 'no-room') await this.#waitForRoom();
      await nextTurn();
    }
  }

  #deliverSome(): 'nothing-left' | 'no-room' | 'turn-over' {
    for (let handedOver = 0; handedOver < TICKETS_PER_TURN; handedOver += 1) {
      const next = this.#nextQueue();
      if (next === null) return 'nothing-left';
      if (!this.#offerFirst(next)) return 'no-room';
    }
    return 'turn-over';
  }

  /** The next queue that is not empty, counted from the one after the last, so that a busy queue holds up no other. */
  #nextQueue(): ReadyQueue | null {
    const { queues } = this.#options;
    for (let step = 1; step <= queues.length; step += 1) {
      const turn = (this.#turn + step) % queues.length;
      const candidate = queues[turn];
      if (candidate === undefined || candidate.log.size === 0) continue;
      this.#turn = turn;
      return candidate;
    }
    return null;
  }

  /** A refused ticket stays in its log, where another consumer can get it meanwhile. */
  #offerFirst({ queue, log }: ReadyQueue): boolean {
    const jobIds = log.first() ?? [];
    const delivery: Delivery = { log, undone: new Set(jobIds) };
    const ticket: Ticket = { queue, jobIds, claimed: keepUntilDone, done: (jobId) => this.#done(delivery, jobId) };
    if (!this.#options.sink.offer([ticket])) return false;
    log.take(1);
    this.#wasToldOfRoom = false;
    if (delivery.undone.size > 0) this.#remember(delivery);
    return true;
  }

  #remember(delivery: Delivery): void {
    this.#deliveries.add(delivery);
    if (this.#deliveries.size <= this.#options.undoneLimit) return;
    for (const oldest of this.#deliveries) {
      this.#deliveries.delete(oldest);
      break;
    }
  }

  #done(delivery: Delivery, jobId: string): void {
    delivery.undone.delete(jobId);
    if (delivery.undone.size === 0) this.#deliveries.delete(delivery);
  }

  async #waitForRoom(): Promise<void> {
    const { sink, clock } = this.#options;
    if (this.#wasToldOfRoom) await clock.sleep(REFUSAL_PAUSE_MS, this.#stopping.signal);
    this.#wasToldOfRoom = false;
    void sink.whenRoom().then(() => {
      this.#wasToldOfRoom = true;
      this.#bell.ring();
    });
    while (!this.#wasToldOfRoom && !this.#stopping.signal.aborted) await this.#bell.wait();
  }
}

/** A claim changes nothing here: no ticket holds up another one's end, so that each is kept until it is done. */
function keepUntilDone(): void {}
