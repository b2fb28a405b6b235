import { describe, expect, it } from '@jest/globals';
import { openDatabase } from './database.js';

describe('openDatabase', () => {
  it.each([
    ['postgres://ada:secret@db.internal:5432/jobs?sslmode=require', 'PostgreSQL at db.internal:5432/jobs'],
    ['postgres://ada:secret@localhost/jobs?host=%2Frun%2Fpostgresql', 'PostgreSQL at /run/postgresql/jobs'],
  ])('tells where a configured database is, and never its password: %s', async (url, description) => {
    const database = await openDatabase({ url, dataDir: '/nowhere', log: () => undefined });
    expect(database).toMatchObject({ url, description });
  });
});
