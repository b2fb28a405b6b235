import { SystemClock, SystemIds, SystemRandom } from '@deadman/config';
import { knownTypes } from '@deadman/handlers';
import { startManagementServer } from '@deadman/observability';
import type { Logger, ServiceInfo } from '@deadman/observability';
import { openAdapters } from './adapters.js';
import type { StandaloneConfig } from './config.js';
import { openDatabase } from './database.js';
import { Engine } from './engine.js';
import { assertPortIsFree } from './free-port.js';
import { loadTeamHandlers } from './handlers.js';
import { serveApi } from './serve-api.js';
import type { Teardown } from './teardown.js';
import { makeWatching, watchHealth } from './watching.js';

/** What `main.ts` brings. */
export interface StandaloneDeps {
  readonly config: StandaloneConfig;
  readonly info: ServiceInfo;
  readonly logger: Logger;
  readonly teardown: Teardown;
  /** Cuts a shutdown's waiting short when it aborts. */
  readonly hurry: AbortSignal;
}

/** A standalone that serves. */
export interface Standalone {
  readonly port: number;
  readonly managementPort: number;
  /** Where the jobs are kept, in words. */
  readonly database: string;
  /** What the worker has handlers for. */
  readonly types: readonly string[];
  /** Finishes or hands back everything, and closes what was opened. */
  close(): Promise<void>;
}

/**
 * Starts all roles in this process: looks at the ports, opens the database and brings its schema up to date, then the
 * engine and the API in front of it, and says that it is ready last of all.
 *
 * @throws CannotStart, or whatever else went wrong. What was opened until then is in `teardown`.
 */
export async function startStandalone(deps: StandaloneDeps): Promise<Standalone> {
  const { config, info, logger, teardown } = deps;
  await assertPortIsFree('PORT', config.http.host, config.http.port);
  await assertPortIsFree('MANAGEMENT_PORT', config.management.host, config.management.port);
  const loaded = await loadTeamHandlers(config.worker.handlers, process.cwd());

  const log = (line: string): void => logger.info({ event: 'postgres.embedded' }, line);
  const database = await openDatabase({ url: config.database.url, dataDir: config.process.dataDir, log });
  teardown.add('database', () => database.stop());
  const clock = new SystemClock();
  const watching = makeWatching({ info, clock, logger, types: knownTypes(loaded) });
  const adapters = await openAdapters(database, { ...deps, clock, registry: watching.registry });

  const surroundings = { clock, random: new SystemRandom(), ids: new SystemIds(), events: watching.events };
  const engine = new Engine({ ...deps, loaded, adapters, surroundings, watching });
  const api = await serveApi({ ...deps, loaded, adapters, surroundings, watching, engine });
  try {
    await watchHealth(watching, adapters.store, logger);
    teardown.add('health', async () => watching.health.stop());
    const { health, registry: metrics } = watching;
    const management = await startManagementServer({ ...config.management, health, metrics, info });
    teardown.add('management', () => management.close());
    return {
      port: api.port,
      managementPort: management.port,
      database: database.description,
      types: engine.types,
      close: () => api.close(),
    };
  } catch (error) {
    await api.close();
    throw error;
  }
}
