import type {
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleDestroy,
} from '@nestjs/common';

/** What a service does at the turns of its life. */
export interface LifecycleSteps {
  /** Every provider exists. */
  start?(): Promise<void>;
  /** Not ready from now on, and no new intake. Servers still answer. */
  refuseWork(): Promise<void> | void;
  /** Finishes or hands back what it has. Servers still answer. */
  finish?(): Promise<void>;
  /** Closes what was opened. No server answers any more. */
  close(): Promise<void>;
}

/** Hangs a service into Nest's life. */
export class ServiceLifecycle
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  readonly #steps: LifecycleSteps;

  constructor(steps: LifecycleSteps) {
    this.#steps = steps;
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.#steps.start?.();
  }

  async onModuleDestroy(): Promise<void> {
    await this.#steps.refuseWork();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#steps.finish?.();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#steps.close();
  }
}
