import type { DeathNotice } from '@deadman/domain';
import { KAFKA_TICKETS, ServedTransport } from '@deadman/transport/nest';
import { Controller, Inject } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';

/** Where deaths arrive. Whoever records them decides: what throws is delivered again. */
@Controller()
export class DeathsController {
  constructor(@Inject(ServedTransport) private readonly transport: ServedTransport) {}

  @EventPattern('jobs.dead', KAFKA_TICKETS)
  onDeaths(@Payload() deaths: readonly DeathNotice[]): Promise<void> {
    return this.transport.takeDeaths(deaths);
  }
}
