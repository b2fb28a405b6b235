import { ServiceLifecycle } from '@deadman/service-host';
import type { LifecycleSteps } from '@deadman/service-host';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';

/** The reaper's loops in the life of a Nest app. It serves nobody and has no controllers. */
@Module({})
export class ReaperModule {
  static forRoot(steps: LifecycleSteps): DynamicModule {
    return {
      module: ReaperModule,
      providers: [{ provide: ServiceLifecycle, useValue: new ServiceLifecycle(steps) }],
    };
  }
}
