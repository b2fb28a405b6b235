import { SystemClock, SystemIds, SystemRandom } from '@deadman/config';
import type { EngineEvents } from '@deadman/domain';
import { JobCommands, Publisher, Submitter } from '@deadman/engine';
import {
  createMetricsRegistry,
  EventLog,
  EventMetrics,
  fanOut,
  frameworkLog,
  HealthRegistry,
  HttpMetrics,
  logHealth,
  measureHealth,
  outboxCheck,
  startManagementServer,
  storeCheck,
} from '@deadman/observability';
import type { Logger, ManagementServer, Registry, ServiceInfo } from '@deadman/observability';
import { PostgresJobStore, PostgresWorkerRegistry } from '@deadman/store';
import { MemoryTransport } from '@deadman/transport';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AddressInfo } from 'node:net';
import type { ApiParts } from '../api.module.js';
import type { ApiConfig } from '../config.js';
import { createApiApp } from '../create-api-app.js';
import { measureHttp } from '../http/measure-http.js';
import { ApiServiceModule } from './api-service.module.js';
import { openDatabases } from './databases.js';
import type { Databases } from './databases.js';

export interface ServiceDeps {
  readonly config: ApiConfig;
  readonly info: ServiceInfo;
  readonly logger: Logger;
  /** Aborts when the process was asked to stop: a start that still waits for its database then fails. */
  readonly stopped: AbortSignal;
}

/** An api that serves. */
export interface ApiService {
  readonly port: number;
  readonly managementPort: number;
  /** Takes nothing more, answers what it has, and closes what it opened. */
  close(): Promise<void>;
}

/** Everything that listens to the engine and tells people of it. */
interface Watching {
  readonly registry: Registry;
  readonly health: HealthRegistry;
  readonly events: EngineEvents;
}

/**
 * Starts the api in a process of its own, on the database of the configuration. The management port comes last: a service
 * that says it is ready is ready.
 *
 * Tickets go to a transport in memory, from which nobody takes them: workers in other processes find new jobs by their
 * idle claim.
 */
export async function startService(deps: ServiceDeps): Promise<ApiService> {
  const { config, info, logger } = deps;
  const clock = new SystemClock();
  const registry = createMetricsRegistry(info);
  const health = new HealthRegistry(info, clock);
  const metrics = new EventMetrics({ registry, clock, roles: ['api'] });
  const watching: Watching = { registry, health, events: fanOut(new EventLog(logger), metrics, health) };
  const databases = await openDatabases({ ...deps, registry });
  const parts = makeParts(databases, watching, clock, config);
  const app = await createApp(parts, databases, watching, deps);
  try {
    await app.listen({ ...config.http });
    const management = await startManagement(parts, watching, deps);
    return {
      port: (app.getHttpServer().address() as AddressInfo).port,
      managementPort: management.port,
      close: async () => {
        await app.close();
        await management.close();
      },
    };
  } catch (error) {
    await app.close();
    throw error;
  }
}

function makeParts(
  { writes, reads }: Databases,
  { events }: Watching,
  clock: SystemClock,
  config: ApiConfig,
): ApiParts {
  const store = new PostgresJobStore(writes);
  const publisher = new Publisher({ transport: new MemoryTransport(clock), store, events });
  return {
    store: new PostgresJobStore(reads),
    registry: new PostgresWorkerRegistry(reads),
    submitter: new Submitter({ store, publisher, clock, events }),
    commands: new JobCommands({ store, publisher, rules: { limits: config.limits, random: new SystemRandom() } }),
    ids: new SystemIds(),
    clock,
    queues: config.queues.queues,
  };
}

async function createApp(
  parts: ApiParts,
  databases: Databases,
  { registry, health }: Watching,
  { info, logger }: ServiceDeps,
): Promise<NestFastifyApplication> {
  const module = ApiServiceModule.forRoot(parts, {
    drain: () => {
      health.drain();
      return parts.submitter.close();
    },
    close: () => {
      health.stop();
      return databases.close();
    },
  });
  const app = await createApiApp(module, { version: info.version, logger: frameworkLog(logger) });
  measureHttp(app, new HttpMetrics(registry));
  return app;
}

async function startManagement(
  { store }: ApiParts,
  { registry, health }: Watching,
  { config, info, logger }: ServiceDeps,
): Promise<ManagementServer> {
  health.add(storeCheck(store));
  health.add(outboxCheck(store));
  logHealth(health, logger);
  measureHealth(health, registry);
  await health.start();
  return startManagementServer({ ...config.management, health, metrics: registry, info });
}
