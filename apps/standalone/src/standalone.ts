import { knownTypes } from '@deadman/handlers';
import { outboxCheck, storeCheck } from '@deadman/observability';
import { assertPortIsFree, loadTeamHandlers, makeVitals, watch } from '@deadman/service-host';
import type { RunningService, ServiceContext, Vitals } from '@deadman/service-host';
import { openAdapters } from './adapters.js';
import { banner } from './banner.js';
import type { StandaloneConfig } from './config.js';
import { openDatabase } from './database.js';
import { Engine, servedQueuesOf } from './engine.js';
import { serveApi } from './serve-api.js';
import type { ServedApi } from './serve-api.js';

/** Silence after which a loop counts as stuck, whatever its turns bring. Milliseconds (operations: live). */
const SILENT_AFTER_MS = { claim: 90_000, reaper: 60_000 };

/**
 * Starts all roles in this process: looks at the ports, opens the database and brings its schema up to date, then the
 * engine and the API in front of it, and says that it is ready last of all.
 *
 * @throws CannotStart, or whatever else went wrong. What was opened until then is in the teardown.
 */
export async function startStandalone(context: ServiceContext<StandaloneConfig>): Promise<RunningService> {
  const { config, info, logger, teardown, clock, random, ids, failpoints } = context;
  await assertPortIsFree('PORT', config.http.host, config.http.port);
  await assertPortIsFree('MANAGEMENT_PORT', config.management.host, config.management.port);
  const loaded = await loadTeamHandlers(config.worker.handlers, process.cwd());

  const log = (line: string): void => logger.info({ event: 'postgres.embedded' }, line);
  const database = await openDatabase({ url: config.database.url, dataDir: config.process.dataDir, log });
  teardown.add('database', () => database.stop());
  const roles = ['api', 'worker', 'reaper', 'dead-letter-consumer'] as const;
  const vitals = makeVitals({ config, info, clock, logger, roles, types: knownTypes(loaded) });
  const adapters = await openAdapters(database, { ...context, registry: vitals.registry });

  const surroundings = { clock, random, ids, failpoints, events: vitals.events };
  const engine = new Engine({ ...context, loaded, adapters, surroundings, vitals });
  const api = await serveApi({ ...context, loaded, adapters, surroundings, vitals, engine });
  try {
    watchLoops(vitals);
    const checks = [storeCheck(adapters.store), outboxCheck(adapters.store)];
    const managementPort = await watch(vitals, checks, context);
    return running(context, api, { managementPort, database: database.description, types: engine.types });
  } catch (error) {
    await api.close();
    throw error;
  }
}

/** The loops that have to turn for the process to count as alive. */
function watchLoops({ health }: Vitals): void {
  for (const [loop, silentAfterMs] of Object.entries(SILENT_AFTER_MS)) health.watchLoop(loop, silentAfterMs);
}

interface StartFacts {
  readonly managementPort: number;
  /** Where the jobs are kept, in words. */
  readonly database: string;
  readonly types: readonly string[];
}

function running(
  { config, info }: ServiceContext<StandaloneConfig>,
  api: ServedApi,
  facts: StartFacts,
): RunningService {
  const { port } = api;
  const queues = servedQueuesOf(config);
  return {
    facts: { port, ...facts },
    banner: banner({ ...info, ...facts, host: config.http.host, port, queues, slots: config.worker.slots }),
    close: () => api.close(),
  };
}
