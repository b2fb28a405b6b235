import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { FaultProxy } from './fault-proxy.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

describe('fault proxy before a real PostgreSQL', () => {
  let database: TestDatabase;
  let proxy: FaultProxy;
  let opened: Client[];

  beforeAll(async () => {
    database = await createTestDatabase();
    await run(database.url, 'CREATE TABLE note (text text)');
  });

  afterAll(() => database.drop());

  beforeEach(async () => {
    opened = [];
    proxy = await FaultProxy.start(database.url);
  });

  afterEach(async () => {
    await Promise.allSettled(opened.map((client) => client.end()));
    await proxy.close();
  });

  async function open(url: string, queryTimeoutMs = 20_000): Promise<Client> {
    const client = new Client({ connectionString: url, query_timeout: queryTimeoutMs, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    await client.connect();
    opened.push(client);
    return client;
  }

  async function run(url: string, sql: string): Promise<unknown[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(sql)).rows as unknown[];
    } finally {
      await client.end();
    }
  }

  it('passes queries', async () => {
    const client = await open(proxy.url);
    expect((await client.query('SELECT 6 * 7 AS answer')).rows).toEqual([{ answer: 42 }]);
  });

  it('cut reply: the commit was applied, and its client sees a broken connection', async () => {
    const client = await open(proxy.url);
    await client.query('BEGIN');
    await client.query(`INSERT INTO note VALUES ('committed')`);
    const cut = proxy.cutOneReply({ request: (sent) => sent.includes('COMMIT') });
    await expect(client.query('COMMIT')).rejects.toThrow('Connection terminated unexpectedly');
    await cut;
    expect(await run(database.url, `SELECT text FROM note WHERE text = 'committed'`)).toHaveLength(1);
  });

  it('drop: a query goes unanswered until its client gives up', async () => {
    const client = await open(proxy.url, 200);
    await proxy.inject({ kind: 'drop' });
    await expect(client.query('SELECT 1')).rejects.toThrow('Query read timeout');
  });

  it('half open: the statement is applied although its client never hears of it', async () => {
    const client = await open(proxy.url, 500);
    await proxy.inject({ kind: 'drop' }, { direction: 'toClient' });
    await expect(client.query(`INSERT INTO note VALUES ('unheard')`)).rejects.toThrow('Query read timeout');
    expect(await run(database.url, `SELECT text FROM note WHERE text = 'unheard'`)).toHaveLength(1);
  });

  it('refuse, then heal: new clients come through again', async () => {
    await proxy.inject({ kind: 'refuse' });
    await expect(open(proxy.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await proxy.heal();
    await open(proxy.url);
  });
});
