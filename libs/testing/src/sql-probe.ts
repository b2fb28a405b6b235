import { Pool } from 'pg';
import type { QueryResultRow } from 'pg';

/** How this program shows in `pg_stat_activity`, so that a test which ends sessions can spare it. */
export const PROBE_NAME = 'deadman-probe';

/** Longest wait for a connection. Milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Looks into a database from outside. Lives through the server's death: whoever asks meanwhile is told so by a throw. */
export class SqlProbe {
  readonly #pool: Pool;

  constructor(url: string) {
    const options = { max: 2, application_name: PROBE_NAME, connectionTimeoutMillis: CONNECT_TIMEOUT_MS };
    this.#pool = new Pool({ connectionString: url, ...options });
    // A connection that broke while nobody used it: the next question makes another one.
    this.#pool.on('error', () => undefined);
  }

  async rows<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return (await this.#pool.query<Row>(text, [...values])).rows;
  }

  /** The only row. Throws when there is another number of them. */
  async row<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row> {
    const rows = await this.rows<Row>(text, values);
    if (rows.length !== 1) throw new Error(`${rows.length} rows, where one was asked for: ${text}`);
    return rows[0]!;
  }

  /** Takes a lock with `text`, in a transaction of its own, and holds it while `act` runs. Nothing stays of what `text` did. */
  async holding<Result>(text: string, act: () => Promise<Result>): Promise<Result> {
    const session = await this.#pool.connect();
    try {
      await session.query('BEGIN');
      await session.query(text);
      return await act();
    } finally {
      // Who cannot be asked to roll back has lost the lock with its session.
      await session.query('ROLLBACK').catch(() => undefined);
      session.release(true);
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
