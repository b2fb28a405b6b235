import { ServiceLifecycle } from '@deadman/service-host';
import type { LifecycleSteps } from '@deadman/service-host';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { ApiModule } from '../api.module.js';
import type { ApiParts } from '../api.module.js';

/** The API in a process of its own. */
@Module({})
export class ApiServiceModule {
  static forRoot(parts: ApiParts, steps: LifecycleSteps): DynamicModule {
    return {
      module: ApiServiceModule,
      imports: [ApiModule.forRoot(parts)],
      providers: [{ provide: ServiceLifecycle, useValue: new ServiceLifecycle(steps) }],
    };
  }
}
