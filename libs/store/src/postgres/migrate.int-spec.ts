import { isDeadmanError } from '@deadman/domain';
import { createTestDatabase } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { migrate, migrationStatus, revertLast } from './migrate.js';
import { readMigrations, SCHEMA_VERSION } from './migration-files.js';
import { openPostgres } from './postgres-database.js';
import type { PostgresDatabase } from './postgres-database.js';
import { checkSchema, judgeSchema, readSchemaState, waitForSchema } from './schema-version.js';

describe('migrations', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  async function query<Row>(sql: string): Promise<Row[]> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Tables and functions. */
  const objects = (): Promise<{ name: string }[]> =>
    query(
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = 'deadman'::regnamespace AND relkind = 'r' AND relname <> 'migrations'
       UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'deadman'::regnamespace ORDER BY name`,
    );

  it('bring an empty database up to date, once', async () => {
    const names = await migrate(database.url);
    expect([names.length, names[0]]).toEqual([SCHEMA_VERSION, '0001_create_jobs']);
    expect(await migrate(database.url)).toEqual([]);
    const status = await migrationStatus(database.url);
    expect(status.every(({ isApplied }) => isApplied)).toBe(true);
  });

  it('run once when several processes start at once', async () => {
    const runs = await Promise.all(Array.from({ length: 5 }, () => migrate(database.url)));
    expect(runs.map((names) => names.length).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 0, SCHEMA_VERSION]);
  });

  it('can be taken back one by one until nothing is left, and run again', async () => {
    await migrate(database.url);
    for (let number = SCHEMA_VERSION; number > 0; number -= 1) {
      expect(await revertLast(database.url)).toBe(number);
      expect((await migrationStatus(database.url)).filter(({ isApplied }) => isApplied)).toHaveLength(number - 1);
    }
    expect(await revertLast(database.url)).toBeNull();
    expect(await objects()).toEqual([]);
    expect(await migrate(database.url)).toHaveLength(SCHEMA_VERSION);
  });

  it('each say which version they make of the schema, up and down', async () => {
    await migrate(database.url);
    const db = await openPostgres({ url: database.url, poolSize: 1 });
    for (const { number } of readMigrations().toReversed()) {
      expect((await readSchemaState(db)).version).toBe(number);
      await revertLast(database.url);
    }
    expect(await readSchemaState(db)).toEqual({ version: 0, oldestCompatible: 0 });
    await db.close();
  });

  it('leave nothing of one that failed', async () => {
    await migrate(database.url);
    await revertLast(database.url);
    await query(`CREATE FUNCTION deadman.retry_policy(in_the_way jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT $1'`);
    const before = await objects();
    await expect(migrate(database.url)).rejects.toMatchObject({ name: 'DeadmanError' });
    expect(await objects()).toEqual(before);
    await query('DROP FUNCTION deadman.retry_policy');
    expect(await migrate(database.url)).toHaveLength(1);
  });

  it('say that the database cannot be reached', async () => {
    const error = await migrate('postgres://nobody@127.0.0.1:1/none').catch((caught: unknown) => caught);
    expect(isDeadmanError(error, 'store-unavailable')).toBe(true);
  });

  describe('and the releases that run on them', () => {
    let db: PostgresDatabase;

    beforeEach(async () => {
      await migrate(database.url);
      db = await openPostgres({ url: database.url, poolSize: 1 });
    });
    afterEach(() => db.close());

    it('agree on the newest schema', async () => {
      await checkSchema(db);
      expect(judgeSchema({ version: 7, oldestCompatible: 6 }, 7)).toBe('compatible');
    });

    it('agree while a newer release that has migrated keeps what this one needs', async () => {
      await query('UPDATE deadman.schema_version SET version = version + 1');
      await expect(checkSchema(db)).resolves.toBeUndefined();
    });

    it('refuse a schema that has left this release behind, and do not wait for it', async () => {
      await query('UPDATE deadman.schema_version SET version = version + 2, oldest_compatible = version + 1');
      await expect(checkSchema(db)).rejects.toMatchObject({ code: 'schema-incompatible' });
      const { signal } = new AbortController();
      await expect(waitForSchema(db, { signal })).rejects.toMatchObject({ code: 'schema-incompatible' });
    });

    it('wait for a schema that is behind, until it has been migrated', async () => {
      await revertLast(database.url);
      await expect(checkSchema(db)).rejects.toMatchObject({ code: 'schema-incompatible' });
      const waiting = waitForSchema(db, { signal: new AbortController().signal, everyMs: 20 });
      await migrate(database.url);
      await expect(waiting).resolves.toBeUndefined();
    });

    it('stop waiting when they are told to stop', async () => {
      await revertLast(database.url);
      const stop = new AbortController();
      const waiting = waitForSchema(db, { signal: stop.signal, everyMs: 60_000 });
      stop.abort();
      await expect(waiting).rejects.toMatchObject({ code: 'schema-incompatible' });
    });
  });
});
