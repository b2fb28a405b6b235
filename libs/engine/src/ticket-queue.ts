import { isUuid } from '@deadman/domain';
import type { EngineEvents, Ticket, TicketSink } from '@deadman/domain';

/** A job that tickets name, with all the tickets that name it. */
export interface TicketedJob {
  readonly jobId: string;
  readonly tickets: readonly Ticket[];
}

/**
 * The bounded queue between a transport and the claims. It names each job once however many tickets do, and holds
 * tickets back by what it holds: a job that is delivered over and over takes room each time.
 */
export class TicketQueue implements TicketSink {
  readonly #capacity: number;
  readonly #events: EngineEvents;
  readonly #onOffer: () => void;
  readonly #jobs = new Map<string, Ticket[]>();
  /** Mentions of jobs by tickets, repeated ones included. */
  #held = 0;
  #waiters: (() => void)[] = [];
  #isClosed = false;

  /** @param capacity mentions of jobs that may wait before tickets are refused. */
  constructor(capacity: number, events: EngineEvents, onOffer: () => void) {
    this.#capacity = capacity;
    this.#events = events;
    this.#onOffer = onOffer;
  }

  /** How many jobs wait. */
  get size(): number {
    return this.#jobs.size;
  }

  /** Takes all of them while there is any room, so that one ticket larger than what is left cannot wait for ever. */
  offer(tickets: readonly Ticket[]): boolean {
    if (this.#isClosed || this.#isFull()) return false;
    for (const ticket of tickets) this.#add(ticket);
    this.#onOffer();
    return true;
  }

  async whenRoom(): Promise<void> {
    if (this.#isClosed || !this.#isFull()) return;
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Removes the `count` oldest jobs. */
  take(count: number): readonly TicketedJob[] {
    const taken: TicketedJob[] = [];
    for (const [jobId, tickets] of this.#jobs) {
      if (taken.length >= count) break;
      taken.push({ jobId, tickets });
    }
    for (const {
      jobId,
      tickets: { length },
    } of taken) {
      this.#jobs.delete(jobId);
      this.#held -= length;
    }
    this.#announceRoom();
    return taken;
  }

  /** Returns jobs whose claim could not be tried. They go to the end; order among tickets means nothing. */
  putBack(jobs: readonly TicketedJob[]): void {
    if (this.#isClosed) return;
    for (const { jobId, tickets } of jobs) {
      this.#jobs.set(jobId, [...(this.#jobs.get(jobId) ?? []), ...tickets]);
      this.#held += tickets.length;
    }
  }

  /** Forgets what waits, without saying that it was done: the transport may deliver it to others. */
  close(): void {
    this.#isClosed = true;
    this.#jobs.clear();
    this.#held = 0;
    this.#announceRoom();
  }

  #add(ticket: Ticket): void {
    for (const jobId of ticket.jobIds) {
      if (isUuid(jobId)) this.#hold(ticket, jobId);
      else this.#drop(ticket, jobId);
    }
  }

  /** Two tickets for one job need one claim. */
  #hold(ticket: Ticket, jobId: string): void {
    const known = this.#jobs.get(jobId);
    this.#held += 1;
    if (known === undefined) this.#jobs.set(jobId, [ticket]);
    else {
      known.push(ticket);
      this.#events.emit({ kind: 'tickets-handled', result: 'duplicate', count: 1 });
    }
  }

  /** What is not a uuid never reaches SQL and must not block its partition. */
  #drop(ticket: Ticket, jobId: string): void {
    this.#events.emit({ kind: 'tickets-handled', result: 'malformed', count: 1 });
    ticket.done(jobId);
  }

  #isFull(): boolean {
    return this.#held >= this.#capacity;
  }

  #announceRoom(): void {
    if (!this.#isClosed && this.#isFull()) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter();
  }
}
