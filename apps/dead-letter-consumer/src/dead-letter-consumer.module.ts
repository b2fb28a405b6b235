import { ServiceLifecycle } from '@deadman/service-host';
import type { LifecycleSteps } from '@deadman/service-host';
import { ServedTransport } from '@deadman/transport/nest';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { DeathsController } from './deaths.controller.js';

@Module({})
export class DeadLetterConsumerModule {
  static forRoot(transport: ServedTransport, steps: LifecycleSteps): DynamicModule {
    return {
      module: DeadLetterConsumerModule,
      controllers: [DeathsController],
      providers: [
        { provide: ServedTransport, useValue: transport },
        { provide: ServiceLifecycle, useValue: new ServiceLifecycle(steps) },
      ],
    };
  }
}
