import type { Clock, EngineEvents } from '@deadman/domain';
import {
  createMetricsRegistry,
  EventLog,
  EventMetrics,
  fanOut,
  HealthRegistry,
  HistoryLog,
  logHealth,
  measureHealth,
  startManagementServer,
} from '@deadman/observability';
import type { HealthCheck, Logger, Registry, Role, ServiceInfo } from '@deadman/observability';
import { cannotListen } from './free-port.js';
import type { Teardown } from './teardown.js';

/** Everything that listens to the engine and tells people of it. */
export interface Vitals {
  readonly events: EngineEvents;
  readonly metrics: EventMetrics;
  readonly registry: Registry;
  readonly health: HealthRegistry;
}

export interface VitalsDeps {
  readonly config: { readonly logging: { readonly historyFile: string | null } };
  readonly info: ServiceInfo;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What this process does. */
  readonly roles: readonly Role[];
  /** What the worker will have handlers for, as far as it is known: their counters begin at 0. */
  readonly types?: readonly string[];
}

export function makeVitals({ config, info, clock, logger, roles, types = [] }: VitalsDeps): Vitals {
  const registry = createMetricsRegistry(info);
  const metrics = new EventMetrics({ registry, clock, roles, types });
  const health = new HealthRegistry(info, clock);
  const { historyFile } = config.logging;
  const history = historyFile === null ? [] : [new HistoryLog(historyFile, info, clock)];
  return { events: fanOut(new EventLog(logger), metrics, health, ...history), metrics, registry, health };
}

export interface ManagementDeps {
  readonly config: { readonly management: { readonly host: string; readonly port: number } };
  readonly info: ServiceInfo;
  readonly logger: Logger;
  readonly teardown: Teardown;
}

/**
 * Begins to look at what the service depends on, and to answer on the management port, whose number it returns.
 *
 * @throws CannotStart when that port is taken.
 */
export async function watch(
  { health, registry }: Vitals,
  checks: readonly HealthCheck[],
  { config, info, logger, teardown }: ManagementDeps,
): Promise<number> {
  for (const check of checks) health.add(check);
  measureHealth(health, registry);
  await health.start();
  // What is down now has not been tried yet; its link tells when it cannot be reached.
  logHealth(health, logger);
  teardown.add('health', async () => health.stop());
  const { host, port } = config.management;
  const starting = startManagementServer({ host, port, health, metrics: registry, info });
  const management = await starting.catch((cause: Error) => {
    throw cannotListen('MANAGEMENT_PORT', host, port, cause);
  });
  teardown.add('management', () => management.close());
  return management.port;
}
