import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase, type TestDatabaseTemplate } from './test-database.js';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}

describe('test database', () => {
  let built = 0;
  const template: TestDatabaseTemplate = {
    key: randomUUID(),
    migrate: async (url) => {
      built += 1;
      await query(url, 'CREATE TABLE note (text text)');
    },
  };
  let databases: TestDatabase[] = [];

  beforeAll(async () => {
    databases = await Promise.all([1, 2, 3].map(() => createTestDatabase({ template })));
  });

  afterAll(async () => {
    await Promise.all(databases.map((database) => database.drop()));
  });

  it('builds a template once for suites that ask for it at the same time', () => {
    expect(built).toBe(1);
  });

  it('gives every suite rows of its own', async () => {
    const [one, other] = databases;
    await query(one!.url, "INSERT INTO note VALUES ('mine')");
    expect(await query(one!.url, 'SELECT text FROM note')).toEqual([{ text: 'mine' }]);
    expect(await query(other!.url, 'SELECT text FROM note')).toEqual([]);
  });

  it('builds a template anew when its first making failed half-way', async () => {
    const key = randomUUID();
    const failing = createTestDatabase({
      template: {
        key,
        migrate: async (url) => {
          await query(url, 'CREATE TABLE half (text text)');
          throw new Error('migration failed');
        },
      },
    });
    await expect(failing).rejects.toThrow('migration failed');
    const whole = await createTestDatabase({
      template: { key, migrate: async (url) => void (await query(url, 'CREATE TABLE whole (text text)')) },
    });
    databases.push(whole);
    expect(await query(whole.url, "SELECT to_regclass('half') AS half, to_regclass('whole') AS whole")).toEqual([
      { half: null, whole: 'whole' },
    ]);
  });

  it('drops a database that somebody is still connected to, and again without complaint', async () => {
    const database = await createTestDatabase();
    const client = new Client({ connectionString: database.url });
    client.on('error', () => undefined);
    await client.connect();
    await database.drop();
    await database.drop();
    await expect(query(database.url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' });
  });
});
