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

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
