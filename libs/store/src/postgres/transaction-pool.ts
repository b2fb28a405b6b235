import { Pool } from 'pg';
import type { PoolClient } from 'pg';
import { EffectSession } from './effect-session.js';
import { translateError } from './translate-error.js';

export interface TransactionPoolOptions {
  readonly url: string;
  /** Shown in `pg_stat_activity`. Default `deadman-handlers`. */
  readonly applicationName?: string;
  /** Most connections: as many handlers can be inside a transaction at once, and others wait. Default 10. */
  readonly poolSize?: number;
  /** Longest statement, of a handler too. Milliseconds, default 5 000. */
  readonly statementTimeoutMs?: number;
  /** Longest wait for a connection, a new one or a free one. Milliseconds, default 5 000. */
  readonly connectTimeoutMs?: number;
  /**
   * Longest that a transaction waits for its next statement before the server breaks it off. Milliseconds. At most the
   * lease's TTL (`protocol.md` §7), so that what a dead or frozen worker has locked is free when its jobs are taken over.
   */
  readonly idleInTransactionMs: number;
  /** Hears of connections that broke while nobody used them. They are replaced by themselves. */
  readonly onIdleError?: (error: Error) => void;
}

const DEFAULTS = {
  applicationName: 'deadman-handlers',
  poolSize: 10,
  statementTimeoutMs: 5_000,
  connectTimeoutMs: 5_000,
  onIdleError: (): void => undefined,
} satisfies Partial<TransactionPoolOptions>;

/** The answer to a statement that was broken off needs at most this long to arrive, or it never will. Milliseconds. */
const ANSWER_GRACE_MS = 2_000;

/**
 * The connections on which handlers' transactions run. They are apart from those of the engine: a handler that thinks for
 * long inside its transaction keeps no claim and no settle waiting, and what it asks the database is planned as usual.
 */
export class TransactionPool {
  readonly #pool: Pool;
  readonly #open = new Set<EffectSession>();
  #isClosed = false;

  /** Connects when the first transaction begins. */
  constructor(options: TransactionPoolOptions) {
    const { url, applicationName, poolSize, connectTimeoutMs, statementTimeoutMs, ...rest } = {
      ...DEFAULTS,
      ...options,
    };
    this.#pool = new Pool({
      connectionString: url,
      application_name: applicationName,
      max: poolSize,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + Math.min(statementTimeoutMs, ANSWER_GRACE_MS),
      idle_in_transaction_session_timeout: rest.idleInTransactionMs,
      keepAlive: true,
    });
    this.#pool.on('error', rest.onIdleError);
  }

  /** Throws `store-unavailable`, or what else a statement throws that changes nothing. */
  async begin(): Promise<EffectSession> {
    const session: EffectSession = new EffectSession(await this.#connect(), () => this.#open.delete(session));
    this.#open.add(session);
    await session.begin();
    return session;
  }

  /** Connections of the pool, for metrics. */
  connections(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { total: totalCount, idle: idleCount, waiting: waitingCount };
  }

  /** Breaks off the transactions that are still open: nobody waits for them any more. Calling twice does nothing. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const session of this.#open) session.breakOff();
    await this.#pool.end();
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw translateError(error, 'unsent');
    }
  }
}
