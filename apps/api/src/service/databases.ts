import { openPostgres, waitForSchema } from '@deadman/store';
import type { PostgresDatabase, PostgresOptions } from '@deadman/store';
import { measurePool } from '@deadman/observability';
import type { Logger, Registry, ServiceInfo } from '@deadman/observability';
import type { ApiConfig } from '../config.js';

/** Longest read. Milliseconds: a list that takes longer is told as `query-too-slow`. */
const READ_TIMEOUT_MS = 2_000;

export interface Databases {
  /** Takes jobs in and carries out commands. */
  readonly writes: PostgresDatabase;
  /** Answers reads, on connections of its own: slow lists hold up no submit. */
  readonly reads: PostgresDatabase;
  close(): Promise<void>;
}

export interface DatabaseDeps {
  readonly config: ApiConfig;
  readonly info: ServiceInfo;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Aborts the waiting for the schema. */
  readonly stopped: AbortSignal;
}

/** Connects, and waits until the migrations have been run. @throws DeadmanError when the database cannot be used. */
export async function openDatabases({ config, info, logger, registry, stopped }: DatabaseDeps): Promise<Databases> {
  const { statementTimeoutMs } = config.database;
  const options: PostgresOptions = {
    ...config.database,
    applicationName: info.instance,
    onIdleError: (err) => logger.debug({ event: 'postgres.connection-broken', err }, 'A connection broke'),
  };
  const writes = await openPostgres(options);
  try {
    await waitForSchema(writes, { signal: stopped });
    const reads = await openPostgres({
      ...options,
      statementTimeoutMs: Math.min(statementTimeoutMs, READ_TIMEOUT_MS),
    });
    measurePool(registry, () => useOf(writes, reads));
    return { writes, reads, close: async () => void (await Promise.all([writes.close(), reads.close()])) };
  } catch (error) {
    await writes.close();
    throw error;
  }
}

function useOf(...databases: readonly PostgresDatabase[]): { busy: number; idle: number; waiting: number } {
  const sum = { busy: 0, idle: 0, waiting: 0 };
  for (const { total, idle, waiting } of databases.map((database) => database.connections())) {
    sum.busy += total - idle;
    sum.idle += idle;
    sum.waiting += waiting;
  }
  return sum;
}
