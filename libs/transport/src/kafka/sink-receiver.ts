import type { Ticket, TicketSink } from '@deadman/domain';
import type { Delivery, MessageReceiver } from './message-receiver.js';
import type { TicketReader } from './ticket-reader.js';

/** Hands tickets to a bounded queue and goes on at once; the queue says by and by what became of them. */
export class SinkReceiver implements MessageReceiver {
  readonly #reader: TicketReader;
  readonly #sink: TicketSink;

  constructor(reader: TicketReader, sink: TicketSink) {
    this.#reader = reader;
    this.#sink = sink;
  }

  take(deliveries: readonly Delivery[]): boolean {
    return deliveries.every((delivery) => this.#handOver(delivery));
  }

  async whenReady(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([this.#sink.whenRoom(), aborted]);
  }

  /** Accepted only after the queue took it: a refused ticket must not hold the offset, it comes again. */
  #handOver(delivery: Delivery): boolean {
    const read = this.#reader.read(delivery.value);
    if (read.ticket !== null && !this.#offer(read.ticket)) return false;
    this.#reader.accept(delivery, read);
    return true;
  }

  #offer(ticket: Ticket): boolean {
    return this.#sink.offer([ticket]);
  }
}
