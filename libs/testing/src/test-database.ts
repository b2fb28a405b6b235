import { createHash, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '@deadman/embedded-postgres';
import { Client, escapeIdentifier } from 'pg';

/** A database of its own for one suite. */
export interface TestDatabase {
  url: string;
  /** Cuts off whoever is still connected, and removes the database. Safe to repeat. */
  drop(): Promise<void>;
}

/** What every new database starts as a copy of. */
export interface TestDatabaseTemplate {
  /** Changes whenever `migrate` would build something else, for example a hash over the migrations. */
  key: string;
  /** Builds the schema in the empty database at `url`, and leaves no connection open. Runs once per key and server. */
  migrate(url: string): Promise<void>;
}

/** Where a project's tests find a server when the test runner has not started one. It is left running. */
const OWN_SERVER_FOLDER = fileURLToPath(new URL('../../../.deadman/test/postgres', import.meta.url));

export interface TestDatabaseOptions {
  template?: TestDatabaseTemplate;
  /** URL of a server to create it on, for a suite that has one of its own. */
  server?: string;
}

/**
 * Creates a fresh database on the server of this test run, or, when a project's tests are run directly, on one that
 * is started for them and stays for the next time.
 */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const server = options.server ?? (await serverUrl());
  const template = options.template ? await ensureTemplate(server, options.template) : 'template0';
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withAdmin(server, (admin) =>
    admin.query(`CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(template)}`),
  );
  return {
    url: withDatabase(server, name),
    drop: async () => {
      await withAdmin(server, (admin) => admin.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`));
    },
  };
}

async function serverUrl(): Promise<string> {
  const given = process.env['DEADMAN_TEST_DATABASE_URL'];
  if (given) return given;
  const server = await startEmbeddedPostgres({ dataDir: OWN_SERVER_FOLDER, durable: false });
  return server.url;
}

/**
 * Suites run in parallel and in several processes, so the first to come builds the template while the others wait for
 * its lock. The mark `datistemplate` is set last: a template without it was left half-built and is built anew.
 */
async function ensureTemplate(server: string, template: TestDatabaseTemplate): Promise<string> {
  const name = `template_${createHash('sha256').update(template.key).digest('hex').slice(0, 24)}`;
  await withAdmin(server, async (admin) => {
    await admin.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name]);
    const { rowCount } = await admin.query('SELECT FROM pg_database WHERE datname = $1 AND datistemplate', [name]);
    if (rowCount) return;
    const identifier = escapeIdentifier(name);
    await admin.query(`DROP DATABASE IF EXISTS ${identifier} WITH (FORCE)`);
    await admin.query(`CREATE DATABASE ${identifier} TEMPLATE template0`);
    await template.migrate(withDatabase(server, name));
    await admin.query(`ALTER DATABASE ${identifier} IS_TEMPLATE true`);
  });
  return name;
}

/** Ending the session gives back its advisory locks, also when `act` throws. */
async function withAdmin<T>(server: string, act: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({ connectionString: withDatabase(server, 'postgres') });
  await admin.connect();
  try {
    return await act(admin);
  } finally {
    await admin.end();
  }
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
