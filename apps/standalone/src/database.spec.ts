import { describe, expect, it } from '@jest/globals';
import { openDatabase } from './database.js';

describe('openDatabase', () => {
  it('never tells the password of a configured database', async () => {
    const url = 'postgres://ada:secret@db.internal:5432/jobs?sslmode=require';
    const database = await openDatabase({ url, dataDir: '/nowhere', log: () => undefined });
    expect(database.url).toBe(url);
    expect(database.description).toBe('PostgreSQL at db.internal:5432/jobs');
  });
});
