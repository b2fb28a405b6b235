import type { TestDatabaseTemplate } from '@deadman/testing';
import { Client } from 'pg';
import { migrate } from './migrate.js';
import { readMigrations } from './migration-files.js';

/** A database with all migrations applied. */
export const MIGRATED: TestDatabaseTemplate = {
  key: JSON.stringify(readMigrations()),
  migrate: async (url) => void (await migrate(url)),
};

const TABLES = [
  'jobs',
  'job_tags',
  'attempts',
  'idempotency_keys',
  'outbox',
  'dead_letters',
  'effects',
  'steps',
  'progress',
  'workers',
];

/** What tests do to a database behind the store's back. */
export class TestSession {
  readonly #client: Client;
  #offsetMs = 0;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(url: string): Promise<TestSession> {
    const client = new Client({ connectionString: url });
    await client.connect();
    return new TestSession(client);
  }

  get client(): Client {
    return this.#client;
  }

  /** Empties all tables, by DELETE, which is much faster for a few rows. The clock stays: it never goes back. */
  async reset(): Promise<void> {
    await this.#client.query(TABLES.map((table) => `DELETE FROM deadman.${table}`).join('; '));
  }

  async now(): Promise<Date> {
    const { rows } = await this.#client.query<{ now: Date }>('SELECT deadman.clock() AS now');
    return rows[0]!.now;
  }

  /** Replaces the one clock of the database by one that is further on. Plans that hold the old one are made anew. */
  async elapse(ms: number): Promise<void> {
    this.#offsetMs += ms;
    await this.#client.query(`
      CREATE OR REPLACE FUNCTION deadman.clock() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE
      AS $$ SELECT date_trunc('milliseconds', clock_timestamp() + ${this.#offsetMs} * interval '1 ms') $$`);
  }

  async recordEffect(jobId: string, key: string): Promise<void> {
    await this.#client.query(
      'INSERT INTO deadman.effects (job_id, effect_key, attempt, created_at) VALUES ($1, $2, 1, now()) ON CONFLICT DO NOTHING',
      [jobId, key],
    );
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}
