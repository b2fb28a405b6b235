import { ApiModule } from '@deadman/api';
import type { ApiParts } from '@deadman/api';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { Lifecycle } from './lifecycle.js';

export interface StandaloneParts {
  readonly api: ApiParts;
  /** Nest modules of the team's own, whose decorated providers are handlers. */
  readonly teamModules: NonNullable<DynamicModule['imports']>;
  readonly lifecycle: (discovery: DiscoveryService) => Lifecycle;
}

/** The API, a team's modules, and the engine in their life. */
@Module({})
export class StandaloneModule {
  static forRoot({ api, teamModules, lifecycle }: StandaloneParts): DynamicModule {
    return {
      module: StandaloneModule,
      imports: [DiscoveryModule, ApiModule.forRoot(api), ...teamModules],
      providers: [{ provide: Lifecycle, useFactory: lifecycle, inject: [DiscoveryService] }],
    };
  }
}
