import type {
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleDestroy,
} from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import type { Engine } from './engine.js';
import { providedInstances } from '@deadman/service-host';
import type { Teardown } from '@deadman/service-host';

export interface LifecycleDeps {
  readonly engine: Engine;
  readonly discovery: DiscoveryService;
  /** Says on the management port that no more work is wanted. */
  readonly setDraining: () => void;
  readonly teardown: Teardown;
  /** Cuts the waiting for handlers short when it aborts. */
  readonly hurry: AbortSignal;
}

/**
 * Hangs the engine into Nest's life. It starts when every provider exists, since handlers are among them. The HTTP server
 * answers until the end of `beforeApplicationShutdown`, so that clients can follow their jobs while those are finished; a
 * submit is refused from `onModuleDestroy` on.
 */
export class Lifecycle
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  readonly #deps: LifecycleDeps;

  constructor(deps: LifecycleDeps) {
    this.#deps = deps;
  }

  onApplicationBootstrap(): Promise<void> {
    const { engine, discovery } = this.#deps;
    return engine.start(() => providedInstances(discovery));
  }

  onModuleDestroy(): Promise<void> {
    this.#deps.setDraining();
    return this.#deps.engine.closeIntake();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.#deps.engine.stop(this.#deps.hurry);
  }

  onApplicationShutdown(): Promise<void> {
    return this.#deps.teardown.run();
  }
}
