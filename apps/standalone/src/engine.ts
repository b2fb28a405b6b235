import { leasePolicy } from '@deadman/domain';
import type { HandlerRegistry } from '@deadman/engine';
import type { HandlerExport } from '@deadman/handlers';
import { handlerLog, measureSlots } from '@deadman/observability';
import type { Logger, ServiceInfo } from '@deadman/observability';
import { makeIntake, makeRoles } from './composition.js';
import type { Adapters, Intake, RoleSettings, Surroundings } from './composition.js';
import type { StandaloneConfig } from './config.js';
import { registerHandlers, sampleGauges } from '@deadman/service-host';
import type { Vitals } from '@deadman/service-host';
import type { Roles } from './roles.js';

export interface EngineDeps {
  readonly config: StandaloneConfig;
  readonly info: ServiceInfo;
  readonly logger: Logger;
  readonly loaded: readonly HandlerExport[];
  readonly adapters: Adapters;
  readonly surroundings: Surroundings;
  readonly vitals: Vitals;
  /** Hears, at a shutdown, how many jobs could be neither finished nor handed back. */
  readonly leaveBehind: (jobs: number) => void;
}

/**
 * The engine in its two halves: the intake, which the API needs before it can exist, and the roles, which need the
 * handlers that the API's container provides.
 */
export class Engine {
  readonly intake: Intake;
  readonly #deps: EngineDeps;
  #types: readonly string[] = [];
  #roles: Roles | null = null;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.intake = makeIntake(deps.adapters, deps.surroundings, deps.config.limits);
  }

  /** What the worker has handlers for; none before the start. */
  get types(): readonly string[] {
    return this.#types;
  }

  /** Registers all handlers, those among `provided` too, and starts every role. Throws CannotStart for a bad handler. */
  async start(provided: () => readonly object[]): Promise<void> {
    const { loaded, adapters, surroundings, vitals } = this.#deps;
    const handlers = await registerHandlers(loaded, provided);
    this.#types = handlers.types();
    const roles = makeRoles(adapters, surroundings, this.intake, this.#settings(handlers));
    measureSlots(vitals.registry, () => roles.slots);
    this.#roles = roles;
    await roles.start();
  }

  /** Takes no more jobs in. Those that were accepted stay. */
  closeIntake(): Promise<void> {
    return this.intake.submitter.close();
  }

  /** Finishes or hands back what runs, and ends every loop. `hurry` cuts the waiting short when it aborts. */
  async stop(hurry: AbortSignal): Promise<void> {
    this.#deps.leaveBehind((await this.#roles?.drain(hurry)) ?? 0);
    await this.#roles?.stop();
  }

  #settings(handlers: HandlerRegistry): RoleSettings {
    const { config, info, logger, adapters, vitals } = this.#deps;
    const { ttlMs, ...times } = config.leases;
    const { queues } = config.queues;
    return {
      name: info.instance,
      handlers,
      handlerLog: (job) => handlerLog(logger, job),
      queues: servedQueuesOf(config),
      worker: config.worker,
      policy: leasePolicy(ttlMs, times),
      limits: config.limits,
      reaper: config.reaper,
      retention: config.retention,
      sampleGauges: () => sampleGauges(adapters.store, vitals.metrics, queues),
    };
  }
}

/** The queues whose jobs this process runs. */
export function servedQueuesOf({ queues, served }: StandaloneConfig): readonly string[] {
  return served.queues ?? queues.queues;
}
