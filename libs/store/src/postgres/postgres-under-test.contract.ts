import { createTestDatabase } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import type { StoreUnderTest } from '../contract/store-under-test.contract.js';
import { PostgresEffectStore } from './postgres-effect-store.js';
import { openPostgres } from './postgres-database.js';
import type { PostgresDatabase } from './postgres-database.js';
import { PostgresJobStore } from './postgres-job-store.js';
import { PostgresStoreNotices } from './postgres-store-notices.js';
import { PostgresWorkerRegistry } from './postgres-worker-registry.js';
import { MIGRATED, TestSession } from './test-session.contract.js';
import { TransactionPool } from './transaction-pool.js';

/** What an outside write is made of: a table that is none of the product's. */
const LEDGER = 'CREATE TABLE ledger (place serial, what text)';

/** All stores on one database of a suite's own, which each test gets empty. */
export class PostgresUnderTest {
  readonly #database: TestDatabase;
  readonly #db: PostgresDatabase;
  readonly #session: TestSession;
  readonly #transactions: TransactionPool;

  private constructor(database: TestDatabase, db: PostgresDatabase, session: TestSession) {
    this.#database = database;
    this.#db = db;
    this.#session = session;
    this.#transactions = new TransactionPool({ url: database.url, idleInTransactionMs: 5_000 });
  }

  static async create(): Promise<PostgresUnderTest> {
    const database = await createTestDatabase({ template: MIGRATED });
    const session = await TestSession.open(database.url);
    await session.client.query(LEDGER);
    return new PostgresUnderTest(database, await openPostgres({ url: database.url }), session);
  }

  /** The stores, on tables that are empty. Closing them is nothing: the next test has the same. */
  async open(): Promise<StoreUnderTest> {
    const session = this.#session;
    await session.reset();
    await session.client.query('TRUNCATE ledger RESTART IDENTITY');
    return {
      store: new PostgresJobStore(this.#db),
      workers: new PostgresWorkerRegistry(this.#db),
      notices: new PostgresStoreNotices({ url: this.#database.url }),
      effects: new PostgresEffectStore(this.#db, this.#transactions),
      now: () => session.now(),
      elapse: (ms) => session.elapse(ms),
      recordEffect: (jobId, key) => session.recordEffect(jobId, key),
      fire: async (transaction, what) =>
        void (await transaction.query('INSERT INTO ledger (what) VALUES ($1)', [what])),
      fired: () => this.#fired(),
      close: async () => {},
    };
  }

  async drop(): Promise<void> {
    await this.#transactions.close();
    await this.#db.close();
    await this.#session.close();
    await this.#database.drop();
  }

  async #fired(): Promise<string[]> {
    const { rows } = await this.#session.client.query<{ what: string }>('SELECT what FROM ledger ORDER BY place');
    return rows.map(({ what }) => what);
  }
}
