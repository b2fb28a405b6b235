import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { readMigrations, toMigrationClass } from './migration-files.js';
import type { MigrationFiles } from './migration-files.js';
import { SILENT } from './silent-logger.js';
import { translateError } from './translate-error.js';

export interface MigrateOptions {
  /** Longest wait for another migration to end. Milliseconds, default 300 000. */
  readonly lockTimeoutMs?: number;
  /** Longest wait for a connection. Milliseconds, default 10 000. */
  readonly connectTimeoutMs?: number;
}

export interface MigrationStatus {
  readonly number: number;
  readonly name: string;
  readonly isApplied: boolean;
}

/** An arbitrary number that stands for "the schema of Deadman is being changed" among the advisory locks of a database. */
const LOCK = 4_077_316_201;

/**
 * Brings the schema up to the newest migration, each in a transaction of its own, and returns the names of those that ran:
 * `0001_create_jobs`.
 * Safe to run from several processes at once: one migrates, the others wait and find nothing to do.
 *
 * @throws DeadmanError as the store does. What ran before the one that failed stays.
 */
export function migrate(url: string, options: MigrateOptions = {}): Promise<readonly string[]> {
  return withSchemaLock(url, options, async (dataSource) => {
    const applied = new Set(
      (await dataSource.runMigrations({ transaction: 'each' })).map(({ timestamp }) => timestamp),
    );
    return readMigrations().flatMap(({ number, name }) => (applied.has(number) ? [fileName(number, name)] : []));
  });
}

/** Takes back the newest migration that was applied, and returns its number, or null when there was none. */
export function revertLast(url: string, options: MigrateOptions = {}): Promise<number | null> {
  return withSchemaLock(url, options, async (dataSource) => {
    const applied = await appliedNumbers(dataSource);
    const last = Math.max(0, ...applied);
    if (last === 0) return null;
    await dataSource.undoLastMigration({ transaction: 'each' });
    return last;
  });
}

/** Every migration that this release knows, and whether it was applied. */
export function migrationStatus(url: string, options: MigrateOptions = {}): Promise<readonly MigrationStatus[]> {
  return withSchemaLock(url, options, async (dataSource) => {
    const applied = await appliedNumbers(dataSource);
    return readMigrations().map(({ number, name }) => ({ number, name, isApplied: applied.has(number) }));
  });
}

/** A migration's name as its file has it. */
export function fileName(number: number, name: string): string {
  return `${String(number).padStart(4, '0')}_${name}`;
}

async function appliedNumbers(dataSource: DataSource): Promise<ReadonlySet<number>> {
  const [found]: { present: boolean }[] = await dataSource.query(
    `SELECT to_regclass('deadman.migrations') IS NOT NULL AS present`,
  );
  if (!found?.present) return new Set();
  const rows: { timestamp: string }[] = await dataSource.query('SELECT timestamp FROM deadman.migrations');
  return new Set(rows.map(({ timestamp }) => Number(timestamp)));
}

/** Holds the lock on a connection of its own, so that it is given back when this process dies. */
async function withSchemaLock<Result>(
  url: string,
  { lockTimeoutMs = 300_000, connectTimeoutMs = 10_000 }: MigrateOptions,
  act: (dataSource: DataSource) => Promise<Result>,
): Promise<Result> {
  const holder = new Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs, keepAlive: true });
  holder.on('error', () => undefined);
  const dataSource = new DataSource(toDataSourceOptions(url, connectTimeoutMs, readMigrations()));
  try {
    await holder.connect();
    await holder.query("SELECT set_config('lock_timeout', $1, false)", [String(Math.trunc(lockTimeoutMs))]);
    await holder.query('SELECT pg_advisory_lock($1)', [LOCK]);
    await holder.query('CREATE SCHEMA IF NOT EXISTS deadman');
    await dataSource.initialize();
    return await act(dataSource);
  } catch (error) {
    throw translateError(error, 'open');
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
    await holder.end();
  }
}

function toDataSourceOptions(
  url: string,
  connectTimeoutMS: number,
  migrations: readonly MigrationFiles[],
): ConstructorParameters<typeof DataSource>[0] {
  return {
    type: 'postgres',
    url,
    connectTimeoutMS,
    applicationName: 'deadman-migrate',
    schema: 'deadman',
    migrationsTableName: 'migrations',
    migrations: migrations.map(toMigrationClass),
    poolSize: 1,
    logger: SILENT,
    installExtensions: false,
  };
}
