import { createApiApp, measureHttp } from '@deadman/api';
import type { ApiParts } from '@deadman/api';
import type { HandlerExport } from '@deadman/handlers';
import { frameworkLog, HttpMetrics } from '@deadman/observability';
import { cannotListen } from '@deadman/service-host';
import type { ServiceContext, Vitals } from '@deadman/service-host';
import type { DynamicModule } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AddressInfo } from 'node:net';
import type { Adapters, Surroundings } from './composition.js';
import type { StandaloneConfig } from './config.js';
import type { Engine } from './engine.js';
import { Lifecycle } from './lifecycle.js';
import { LiveWorkers } from './live-workers.js';
import { StandaloneModule } from './standalone.module.js';

export interface ServeDeps extends ServiceContext<StandaloneConfig> {
  readonly loaded: readonly HandlerExport[];
  readonly adapters: Adapters;
  readonly surroundings: Surroundings;
  readonly vitals: Vitals;
  readonly engine: Engine;
}

export interface ServedApi {
  readonly port: number;
  /** Ends the engine, then the server, then everything in the teardown. */
  close(): Promise<void>;
}

/** Starts the engine in the life of a Nest app, and listens. */
export async function serveApi(deps: ServeDeps): Promise<ServedApi> {
  const { config, info, logger, vitals } = deps;
  const app = await createApiApp(moduleOf(deps), { version: info.version, logger: frameworkLog(logger) });
  measureHttp(app, new HttpMetrics(vitals.registry));
  const { host, port } = config.http;
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    throw cannotListen('PORT', host, port, cause as Error);
  }
  return { port: portOf(app), close: () => app.close() };
}

function moduleOf({ loaded, adapters, surroundings, engine, config, ...deps }: ServeDeps): DynamicModule {
  const { hurry, teardown, vitals } = deps;
  return StandaloneModule.forRoot({
    api: apiParts(adapters, surroundings, engine, config),
    teamModules: loaded.filter(({ kind }) => kind === 'module').map(({ value }) => value as DynamicModule),
    lifecycle: (discovery) =>
      new Lifecycle({ engine, discovery, hurry, teardown, setDraining: () => vitals.health.drain() }),
  });
}

function apiParts(
  adapters: Adapters,
  { ids, clock }: Surroundings,
  engine: Engine,
  config: StandaloneConfig,
): ApiParts {
  const registry = new LiveWorkers(adapters.registry, () => engine.types);
  const { submitter, commands } = engine.intake;
  const { queues } = config.queues;
  // A deployment that names its queues need not have one called default: then the first of them is meant.
  const defaults = queues.includes('default') ? {} : { queue: queues[0]! };
  return { store: adapters.reads, registry, submitter, commands, ids, clock, queues, defaults };
}

function portOf(app: NestFastifyApplication): number {
  return (app.getHttpServer().address() as AddressInfo).port;
}
