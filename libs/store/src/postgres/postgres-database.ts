import { DataSource } from 'typeorm';
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { SILENT } from './silent-logger.js';
import type { Statement } from './statement.js';
import { TYPE_PARSERS } from './timestamp-parser.js';
import { isConnectionSound, translateError } from './translate-error.js';
import type { Stage } from './translate-error.js';

export interface PostgresOptions {
  readonly url: string;
  /** Shown in `pg_stat_activity`. Default `deadman`. */
  readonly applicationName?: string;
  /** Most connections. Default 10. */
  readonly poolSize?: number;
  /**
   * Longest statement. Milliseconds, default 5 000 (`protocol.md` §13). The server breaks it off; a connection on which no
   * answer has come after twice this time, or 2 s more, counts as broken.
   */
  readonly statementTimeoutMs?: number;
  /** Longest wait for a connection, a new one or a free one. Milliseconds, default 5 000. */
  readonly connectTimeoutMs?: number;
  /** Hears of connections that broke while nobody used them. They are replaced by themselves. */
  readonly onIdleError?: (error: Error) => void;
}

const DEFAULTS = {
  applicationName: 'deadman',
  poolSize: 10,
  statementTimeoutMs: 5_000,
  connectTimeoutMs: 5_000,
  onIdleError: ignore,
} satisfies Partial<PostgresOptions>;

/** The answer to a statement that was broken off needs at most this long to arrive, or it never will. Milliseconds. */
const ANSWER_GRACE_MS = 2_000;

/**
 * Each statement of ours has one good plan: nested loops over the indexes that its head names. Statistics lag behind a
 * burst, and a plan that was made for an empty table is kept while the table grows; so every other way to join or to scan
 * is made unattractive, and a plan is made once per connection: making it costs more than running it for a single row.
 * Such plans look expensive without being so, which is why the compiler must not wake up for them.
 * The time zone is what the parser of instants is made for.
 */
const SETTINGS = [
  'timezone=UTC',
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'max_parallel_workers_per_gather=0',
  'jit=off',
];

/** A connection that nobody used for this long is given up. Milliseconds; long, because a new one has all its plans to make. */
const IDLE_TIMEOUT_MS = 600_000;

/** Values as the driver takes them. */
export type Values = readonly (string | number | boolean | Date | null)[];

/** Runs statements on one connection, in one transaction. */
export type Run = <Row extends QueryResultRow>(statement: Statement, values: Values) => Promise<Row[]>;

/**
 * Connects, and checks that the server can be reached.
 *
 * @throws DeadmanError `store-unavailable`.
 */
export async function openPostgres(options: PostgresOptions): Promise<PostgresDatabase> {
  const dataSource = new DataSource(toDataSourceOptions({ ...DEFAULTS, ...options }));
  try {
    await dataSource.initialize();
  } catch (error) {
    throw translateError(error, 'unsent');
  }
  return new PostgresDatabase(dataSource);
}

function toDataSourceOptions(options: Required<PostgresOptions>): ConstructorParameters<typeof DataSource>[0] {
  return {
    type: 'postgres',
    url: options.url,
    applicationName: options.applicationName,
    poolSize: options.poolSize,
    connectTimeoutMS: options.connectTimeoutMs,
    poolErrorHandler: options.onIdleError,
    installExtensions: false,
    logger: SILENT,
    extra: {
      keepAlive: true,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      types: TYPE_PARSERS,
      statement_timeout: options.statementTimeoutMs,
      query_timeout: options.statementTimeoutMs + Math.min(options.statementTimeoutMs, ANSWER_GRACE_MS),
      idle_in_transaction_session_timeout: options.statementTimeoutMs,
      options: SETTINGS.map((setting) => `-c ${setting}`).join(' '),
    },
  };
}

/** A pool of connections on which prepared statements run. Every wait is bounded, and every error is a `DeadmanError`. */
export class PostgresDatabase {
  readonly dataSource: DataSource;
  readonly #pool: Pool;

  /** @param dataSource initialised. */
  constructor(dataSource: DataSource) {
    this.dataSource = dataSource;
    this.#pool = poolOf(dataSource);
  }

  /** Runs a statement that changes nothing. */
  read<Row extends QueryResultRow>(statement: Statement, values: Values = []): Promise<Row[]> {
    return this.#withClient((client) => run<Row>(client, statement, values, 'read'));
  }

  /** Runs a statement that commits by itself. */
  write<Row extends QueryResultRow>(statement: Statement, values: Values = []): Promise<Row[]> {
    return this.#withClient((client) => run<Row>(client, statement, values, 'write'));
  }

  /** Runs several statements, all or none. `unknown-outcome` can come only from the COMMIT. */
  transaction<Result>(act: (run: Run) => Promise<Result>): Promise<Result> {
    return this.#withClient(async (client) => {
      await run(client, BEGIN, [], 'open');
      const result = await act((statement, values) => run(client, statement, values, 'open'));
      await run(client, COMMIT, [], 'write');
      return result;
    });
  }

  /** Connections of the pool, for metrics. */
  connections(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { total: totalCount, idle: idleCount, waiting: waitingCount };
  }

  /** Waits for what is under way. Calling twice does nothing. */
  async close(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  async #withClient<Result>(act: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#connect();
    try {
      const result = await act(client);
      client.release();
      return result;
    } catch (error) {
      await giveBack(client, error);
      throw error;
    }
  }

  async #connect(): Promise<PoolClient> {
    try {
      const client = await this.#pool.connect();
      // A connection that breaks while it is in use says so twice: to its query, and to a listener that must exist.
      if (client.listenerCount('error') === 0) client.on('error', ignore);
      return client;
    } catch (error) {
      throw translateError(error, 'unsent');
    }
  }
}

function ignore(): void {}

const BEGIN: Statement = { name: 'begin', text: 'BEGIN' };
const COMMIT: Statement = { name: 'commit', text: 'COMMIT' };
const ROLLBACK: Statement = { name: 'rollback', text: 'ROLLBACK' };

async function run<Row extends QueryResultRow>(
  client: PoolClient,
  { name, text }: Statement,
  values: Values,
  stage: Stage,
): Promise<Row[]> {
  try {
    const { rows } = await client.query<Row>({ name, text, values: [...values] });
    return rows;
  } catch (error) {
    throw translateError(error, stage);
  }
}

/** A connection goes back to the pool only when it is known to be sound, and then with no transaction open. */
async function giveBack(client: PoolClient, error: unknown): Promise<void> {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!isConnectionSound(cause)) return client.release(true);
  try {
    await client.query(ROLLBACK);
    client.release();
  } catch {
    client.release(true);
  }
}

function poolOf(dataSource: DataSource): Pool {
  const { driver } = dataSource as unknown as { readonly driver: { readonly master: Pool } };
  return driver.master;
}
