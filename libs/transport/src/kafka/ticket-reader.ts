import type { Clock, Ticket } from '@deadman/domain';
import type { MalformedCounter } from './malformed-counter.js';
import type { Delivery } from './message-receiver.js';
import { TrackedMessage } from './partition-book.js';
import { decodeTicket } from './ticket-codec.js';
import type { MalformedReason } from './ticket-codec.js';

/** A message as its receiver needs it; without a ticket when there is nothing to hand over. */
export interface ReadTicket {
  readonly message: TrackedMessage;
  readonly ticket: Ticket | null;
  /** What of it means nothing: the whole message, or so many of its ids. */
  readonly malformed: { readonly reason: MalformedReason; readonly count: number };
}

/** Makes tickets of one queue's messages, and counts what is none. */
export class TicketReader {
  readonly #queue: string;
  readonly #malformed: MalformedCounter;
  readonly #clock: Clock;

  constructor(queue: string, malformed: MalformedCounter, clock: Clock) {
    this.#queue = queue;
    this.#malformed = malformed;
    this.#clock = clock;
  }

  read(value: Buffer | null): ReadTicket {
    const decoded = decodeTicket(value);
    if (decoded.kind === 'malformed') {
      return { message: new TrackedMessage([]), ticket: null, malformed: { reason: decoded.reason, count: 1 } };
    }
    const message = new TrackedMessage(decoded.jobIds);
    const ticket = message.isSettled ? null : this.#ticket(decoded.jobIds, message);
    return { message, ticket, malformed: { reason: 'not-a-uuid', count: decoded.notUuids } };
  }

  /** It was handed over. Only now is it counted what was malformed: a delivery that is refused comes again. */
  accept(delivery: Delivery, { message, malformed }: ReadTicket): void {
    this.#malformed.count(malformed.reason, malformed.count);
    delivery.accept(message);
  }

  #ticket(jobIds: readonly string[], message: TrackedMessage): Ticket {
    return {
      queue: this.#queue,
      jobIds,
      claimed: (jobId) => message.claimed(jobId, this.#clock.monotonicMs()),
      done: (jobId) => message.done(jobId),
    };
  }
}
