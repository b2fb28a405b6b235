import type { Clock, Ticket } from '@deadman/domain';
import type { MalformedCounter } from './malformed-counter.js';
import { TrackedMessage } from './partition-book.js';
import { decodeTicket } from './ticket-codec.js';

/** A message as its receiver needs it; without a ticket when there is nothing to hand over. */
export interface ReadTicket {
  readonly message: TrackedMessage;
  readonly ticket: Ticket | null;
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
      this.#malformed.count(decoded.reason);
      return { message: new TrackedMessage([]), ticket: null };
    }
    this.#malformed.count('not-a-uuid', decoded.notUuids);
    const message = new TrackedMessage(decoded.jobIds);
    return { message, ticket: message.isSettled ? null : this.#ticket(decoded.jobIds, message) };
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
