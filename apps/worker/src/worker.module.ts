import { ServiceLifecycle } from '@deadman/service-host';
import type { LifecycleSteps } from '@deadman/service-host';
import { ServedTransport } from '@deadman/transport/nest';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { ticketsController } from './tickets.controller.js';

export interface WorkerModuleParts {
  readonly transport: ServedTransport;
  readonly topics: readonly string[];
  /** Nest modules of the team's own, whose decorated providers are handlers. */
  readonly teamModules: NonNullable<DynamicModule['imports']>;
  readonly steps: (discovery: DiscoveryService) => LifecycleSteps;
}

/** The worker and a team's modules. */
@Module({})
export class WorkerModule {
  static forRoot({ transport, topics, teamModules, steps }: WorkerModuleParts): DynamicModule {
    return {
      module: WorkerModule,
      imports: [DiscoveryModule, ...teamModules],
      controllers: [ticketsController(topics)],
      providers: [
        { provide: ServedTransport, useValue: transport },
        {
          provide: ServiceLifecycle,
          useFactory: (discovery: DiscoveryService) => new ServiceLifecycle(steps(discovery)),
          inject: [DiscoveryService],
        },
      ],
    };
  }
}
