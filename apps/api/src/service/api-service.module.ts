import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import { ApiModule } from '../api.module.js';
import type { ApiParts } from '../api.module.js';

/** What happens at the two ends of a shutdown. */
export interface ShutdownSteps {
  /** Not ready, and no new intake. The server still answers. */
  drain(): Promise<void>;
  /** The server has answered its last request. */
  close(): Promise<void>;
}

const SHUTDOWN_STEPS = Symbol('deadman.shutdown-steps');

/** The API in a process of its own. */
@Module({})
export class ApiServiceModule implements OnModuleDestroy, OnApplicationShutdown {
  constructor(@Inject(SHUTDOWN_STEPS) private readonly steps: ShutdownSteps) {}

  static forRoot(parts: ApiParts, steps: ShutdownSteps): DynamicModule {
    return {
      module: ApiServiceModule,
      imports: [ApiModule.forRoot(parts)],
      providers: [{ provide: SHUTDOWN_STEPS, useValue: steps }],
    };
  }

  onModuleDestroy(): Promise<void> {
    return this.steps.drain();
  }

  onApplicationShutdown(): Promise<void> {
    return this.steps.close();
  }
}
