import { createTestDatabase } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** What a deployment types, with the database it means. */
function migrate(url: string | undefined, ...args: readonly string[]): { readonly code: number | null; said: string } {
  const env = { PATH: process.env['PATH'] ?? '', ...(url !== undefined && { DATABASE_URL: url }) };
  const command = ['run', '--silent', 'migrate', '--', ...args];
  const { status, stdout, stderr } = spawnSync('npm', command, { cwd: ROOT, env, encoding: 'utf8' });
  return { code: status, said: status === 0 ? stdout : stderr };
}

describe('npm run migrate', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('brings the schema up to date, and does nothing when it is', () => {
    expect(migrate(database.url)).toEqual({ code: 0, said: expect.stringMatching(/^(Applied \S+\n)+$/) });
    expect(migrate(database.url, 'up')).toEqual({ code: 0, said: 'Nothing to migrate\n' });
  });

  it('tells what is applied, and takes the last migration back', () => {
    expect(migrate(database.url, 'status').said).toMatch(/^(applied {2}\S+\n)+$/);
    expect(migrate(database.url, 'down')).toEqual({
      code: 0,
      said: expect.stringMatching(/^Reverted migration \d+\n$/),
    });
    expect(migrate(database.url, 'status').said).toMatch(/^(applied {2}\S+\n)+waiting {2}\S+\n$/);
  });

  it('says how it is used when it is not told of a database, or of a command it does not know', () => {
    const usage = { code: 64, said: expect.stringContaining('Usage: DATABASE_URL=') };
    expect(migrate(undefined)).toEqual(usage);
    expect(migrate(database.url, 'sideways')).toEqual(usage);
  });

  it('says what is wrong when the database cannot be reached', () => {
    expect(migrate('postgres://nobody@127.0.0.1:1/none')).toEqual({
      code: 1,
      said: expect.stringMatching(/ECONNREFUSED|reach/),
    });
  });
});
