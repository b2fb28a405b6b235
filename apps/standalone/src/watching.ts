import type { Clock, EngineEvents, JobStore } from '@deadman/domain';
import {
  createMetricsRegistry,
  EventLog,
  EventMetrics,
  fanOut,
  HealthRegistry,
  logHealth,
  measureHealth,
  outboxCheck,
  storeCheck,
} from '@deadman/observability';
import type { Logger, Registry, ServiceInfo } from '@deadman/observability';

/** Silence after which a loop counts as stuck, whatever its turns bring. Milliseconds (operations: live). */
const SILENT_AFTER_MS = { claim: 90_000, reaper: 60_000 };

/** Everything that listens to the engine and tells people of it. */
export interface Watching {
  readonly events: EngineEvents;
  readonly metrics: EventMetrics;
  readonly registry: Registry;
  readonly health: HealthRegistry;
}

export interface WatchingDeps {
  readonly info: ServiceInfo;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What the worker will have handlers for, as far as it is known: their counters begin at 0. */
  readonly types: readonly string[];
}

export function makeWatching({ info, clock, logger, types }: WatchingDeps): Watching {
  const registry = createMetricsRegistry(info);
  const roles = ['api', 'worker', 'reaper', 'dead-letter-consumer'] as const;
  const metrics = new EventMetrics({ registry, clock, roles, types });
  const health = new HealthRegistry(info, clock);
  return { events: fanOut(new EventLog(logger), metrics, health), metrics, registry, health };
}

/** Begins to look at the store, and at the loops that have to turn for the process to count as alive. */
export async function watchHealth({ health, registry }: Watching, store: JobStore, logger: Logger): Promise<void> {
  health.add(storeCheck(store));
  health.add(outboxCheck(store));
  for (const [loop, silentAfterMs] of Object.entries(SILENT_AFTER_MS)) health.watchLoop(loop, silentAfterMs);
  logHealth(health, logger);
  measureHealth(health, registry);
  await health.start();
}
