import { isDeadmanError, leasePolicy } from '@deadman/domain';
import type { Clock, DeadmanError } from '@deadman/domain';
import { MemoryLeaseStore, MemoryWakeUpSet } from '@deadman/leases';
import { measurePool } from '@deadman/observability';
import type { Logger, Registry, ServiceInfo } from '@deadman/observability';
import { migrate, openPostgres, PostgresJobStore, PostgresStoreNotices, PostgresWorkerRegistry } from '@deadman/store';
import type { PostgresDatabase, PostgresOptions } from '@deadman/store';
import { MemoryTransport } from '@deadman/transport';
import type { Adapters } from './composition.js';
import type { StandaloneConfig } from './config.js';
import type { Database } from './database.js';
import { CannotStart, EXIT, openEffects } from '@deadman/service-host';
import type { Teardown } from '@deadman/service-host';

/** Longest statement of a beat, however long the beat. Milliseconds (`protocol.md` §13: less in the beat). */
const MAX_BEAT_STATEMENT_MS = 1_000;

/** Longest read of the API. Milliseconds: a list that takes longer is told as `query-too-slow`. */
const MAX_READ_STATEMENT_MS = 2_000;

/** One connection beats, and one waits for the moment in which that one is broken. */
const BEAT_POOL_SIZE = 2;

/** Time in which a connection has to come about at the start, in as many tries as it takes. Milliseconds. */
const CONNECT_WITHIN_MS = 10_000;
const CONNECT_PAUSE_MS = 100;

export interface AdapterDeps {
  readonly config: StandaloneConfig;
  readonly info: ServiceInfo;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Gets the measure of the connections. */
  readonly registry: Registry;
  readonly teardown: Teardown;
}

/**
 * Jobs on PostgreSQL, whose schema is brought up to date first; leases, wake-ups and tickets, which any process may lose,
 * in memory.
 *
 * @throws CannotStart when the database cannot be used.
 */
export async function openAdapters(database: Database, deps: AdapterDeps): Promise<Adapters> {
  const { config, clock, teardown, registry } = deps;
  const { url } = database;
  try {
    await migrateSchema(url, deps);
    const jobs = await open({ ...config.database, url }, deps);
    const reads = await open({ ...readOptions(config), url }, deps);
    const beats = await open({ ...beatOptions(config), url }, deps);
    const transport = new MemoryTransport(clock);
    teardown.add('transport', () => transport.close());
    measurePool(registry, () => poolUse(jobs));
    return {
      store: new PostgresJobStore(jobs),
      reads: new PostgresJobStore(reads),
      registry: new PostgresWorkerRegistry(jobs),
      beats: new PostgresWorkerRegistry(beats),
      notices: new PostgresStoreNotices({ url, onError: (error) => tellBroken(deps, error) }),
      transport,
      leases: new MemoryLeaseStore(clock),
      effects: openEffects(jobs, { ...config.database, url }, deps),
      wakeUps: new MemoryWakeUpSet(clock),
    };
  } catch (cause) {
    if (!isDeadmanError(cause)) throw cause;
    throw new CannotStart(EXIT.unavailable, `${database.description} cannot be used: ${reasonOf(cause)}`, { cause });
  }
}

/** This process alone answers for its database: no separate step migrates before it, as with services that are many. */
async function migrateSchema(url: string, { logger }: AdapterDeps): Promise<void> {
  const applied = await migrate(url);
  if (applied.length > 0) logger.info({ event: 'schema.migrated', migrations: applied }, 'The schema is up to date');
}

async function open(options: PostgresOptions, deps: AdapterDeps): Promise<PostgresDatabase> {
  const database = await connect(
    { ...options, applicationName: deps.info.instance, onIdleError: (error) => tellBroken(deps, error) },
    deps,
  );
  deps.teardown.add('database connections', () => database.close());
  return database;
}

/** A beat's connection has to be made within part of a beat, which a busy machine may miss. Whoever starts can try again. */
async function connect(options: PostgresOptions, deps: AdapterDeps): Promise<PostgresDatabase> {
  const { clock } = deps;
  const untilMs = clock.monotonicMs() + CONNECT_WITHIN_MS;
  for (;;) {
    try {
      return await openPostgres(options);
    } catch (error) {
      if (!isDeadmanError(error, 'store-unavailable') || clock.monotonicMs() >= untilMs) throw error;
      tellBroken(deps, error);
      await clock.sleep(CONNECT_PAUSE_MS);
    }
  }
}

/** Reads of the API have connections of their own: slow lists hold up neither submits nor the engine. */
function readOptions({ database }: StandaloneConfig): Omit<PostgresOptions, 'url'> {
  return { ...database, statementTimeoutMs: Math.min(database.statementTimeoutMs, MAX_READ_STATEMENT_MS) };
}

/** Beats have connections of their own, so that they wait behind no job, and give up before the next beat is due. */
function beatOptions({ leases }: StandaloneConfig): Omit<PostgresOptions, 'url'> {
  const timeoutMs = Math.min(MAX_BEAT_STATEMENT_MS, Math.floor(leasePolicy(leases.ttlMs).beatMs / 2));
  return { poolSize: BEAT_POOL_SIZE, statementTimeoutMs: timeoutMs, connectTimeoutMs: timeoutMs };
}

function poolUse(database: PostgresDatabase): { busy: number; idle: number; waiting: number } {
  const { total, idle, waiting } = database.connections();
  return { busy: total - idle, idle, waiting };
}

/** Health tells that the database is away; this says why, for whoever looks closer. */
function tellBroken({ logger }: AdapterDeps, err: unknown): void {
  logger.debug({ event: 'postgres.connection-broken', err }, 'A connection to PostgreSQL broke; another one is made');
}

function reasonOf({ message, cause }: DeadmanError): string {
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
