import type { Ticket, TicketSink } from '@deadman/domain';

/** A bounded queue of tickets that a test empties by hand. As the engine's does, it takes a whole batch while it has any room. */
export class RecordingSink implements TicketSink {
  readonly #capacity: number;
  readonly #waiting: Ticket[] = [];
  readonly #received: string[] = [];
  readonly #roomWaiters: (() => void)[] = [];

  /** @param capacity from how many tickets on it is full. */
  constructor(capacity = Number.POSITIVE_INFINITY) {
    this.#capacity = capacity;
  }

  offer(tickets: readonly Ticket[]): boolean {
    if (this.#waiting.length >= this.#capacity) return false;
    this.#waiting.push(...tickets);
    for (const ticket of tickets) this.#received.push(...ticket.jobIds);
    return true;
  }

  async whenRoom(): Promise<void> {
    if (this.#waiting.length < this.#capacity) return;
    await new Promise<void>((resolve) => this.#roomWaiters.push(resolve));
  }

  /** Every job id that ever arrived, repeats included, in order of arrival. */
  get received(): readonly string[] {
    return this.#received;
  }

  /** Takes all tickets out without saying that their jobs are done. */
  take(): readonly Ticket[] {
    const taken = this.#waiting.splice(0);
    for (const wake of this.#roomWaiters.splice(0)) wake();
    return taken;
  }

  /** Takes all tickets out and says of every job that it is done. */
  finish(): void {
    for (const ticket of this.take()) {
      for (const jobId of ticket.jobIds) ticket.done(jobId);
    }
  }
}
