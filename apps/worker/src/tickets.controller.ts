import type { Ticket } from '@deadman/domain';
import { KAFKA_TICKETS, ServedTransport } from '@deadman/transport/nest';
import { Controller, Inject } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';

/**
 * Where the tickets of these topics arrive. They go to the worker's bounded queue, and what became of each job moves the
 * offset, not the return from here (`protocol.md` §8).
 */
export function ticketsController(topics: readonly string[]): Type {
  @Controller()
  class TicketsController {
    constructor(@Inject(ServedTransport) private readonly transport: ServedTransport) {}

    @EventPattern([...topics], KAFKA_TICKETS)
    onTickets(@Payload() tickets: readonly Ticket[]): void {
      this.transport.takeTickets(tickets);
    }
  }
  return TicketsController;
}
