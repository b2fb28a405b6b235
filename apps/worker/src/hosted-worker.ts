import { leasePolicy } from '@deadman/domain';
import type {
  EffectStore,
  EngineEvents,
  JobStore,
  LeaseStore,
  Transport,
  WorkerRecord,
  WorkerRegistry,
} from '@deadman/domain';
import { Publisher, Worker } from '@deadman/engine';
import type { Heart, HandlerRegistry } from '@deadman/engine';
import type { HandlerExport } from '@deadman/handlers';
import { handlerLog } from '@deadman/observability';
import type { HealthCheck } from '@deadman/observability';
import { registerHandlers } from '@deadman/service-host';
import type { ServiceContext } from '@deadman/service-host';
import type { WorkerConfig } from './config.js';

export interface HostedWorkerDeps extends ServiceContext<WorkerConfig> {
  readonly store: JobStore;
  readonly registry: WorkerRegistry;
  readonly leases: LeaseStore;
  readonly effects: EffectStore;
  readonly transport: Transport;
  readonly events: EngineEvents;
  readonly loaded: readonly HandlerExport[];
  readonly makeHeart: (worker: WorkerRecord) => Heart;
}

/** The worker, which can be made only when its handlers exist: it tells of their types from its first beat on. */
export class HostedWorker {
  #worker: Worker | null = null;

  get slots(): { readonly capacity: number; readonly busy: number } {
    return { capacity: this.#worker?.slots ?? 0, busy: this.#worker?.busySlots ?? 0 };
  }

  get checks(): readonly HealthCheck[] {
    return [
      {
        name: 'handlers',
        critical: true,
        effect: 'runs no job yet',
        check: async () => {
          if (this.#worker === null) throw new Error('not registered yet');
        },
      },
      {
        name: 'slots',
        critical: false,
        effect: 'other workers take what comes in',
        check: async () => {
          const { capacity, busy } = this.slots;
          if (capacity > 0 && busy >= capacity) throw new Error(`all ${capacity} are busy`);
        },
      },
    ];
  }

  /** Registers all handlers, those among `provided` too, and starts to work. Throws CannotStart for a bad handler. */
  async start(deps: HostedWorkerDeps, provided: () => readonly object[]): Promise<void> {
    const handlers = await registerHandlers(deps.loaded, provided);
    deps.logger.info({ event: 'worker.handlers', types: handlers.types() }, 'Handlers are registered');
    this.#worker = makeWorker(deps, handlers);
    await this.#worker.start();
  }

  /**
   * Finishes or hands back what runs, and returns how many jobs it could do neither with. `hurry` cuts the waiting short
   * when it aborts. Calling twice waits for the first.
   */
  async drain(hurry: AbortSignal): Promise<number> {
    return (await this.#worker?.drain(hurry)) ?? 0;
  }
}

function makeWorker(deps: HostedWorkerDeps, handlers: HandlerRegistry): Worker {
  const { config, info, logger } = deps;
  const { ttlMs, ...times } = config.leases;
  const { slots, drainMs, abortGraceMs } = config.worker;
  return new Worker(
    { ...deps, publisher: new Publisher(deps), handlers, handlerLog: (job) => handlerLog(logger, job) },
    {
      name: info.instance,
      queues: config.queues.queues,
      slots,
      drainMs,
      abortGraceMs,
      policy: leasePolicy(ttlMs, times),
      limits: config.limits,
    },
  );
}
