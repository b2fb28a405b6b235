import { Client } from 'pg';
import { readPassword, type ClusterFolder } from './cluster-folder.js';

/** The database Deadman uses, apart from the one every server comes with. */
const DATABASE = 'deadman';

/** For a look that is repeated until the server is ready. Milliseconds. */
const LOOK_WITHIN_MS = 1_000;
/** For what is done once, on a machine as busy as it may be. Milliseconds. */
const CONNECT_WITHIN_MS = 20_000;
const QUERY_WITHIN_MS = 20_000;

/** The URL carries the superuser's password: hand it to a driver, and keep it out of logs. */
export function urlOf(folder: ClusterFolder, port: number, database = DATABASE): string {
  return `postgres://postgres:${readPassword(folder)}@127.0.0.1:${port}/${database}`;
}

/**
 * The same by the server's Unix socket, which takes less time than TCP: a tenth more single submits a second. The name in
 * front stays for readers that know hosts only; libpq and `pg` honour the parameter.
 */
export function socketUrlOf(folder: ClusterFolder, port: number, sockets: string): string {
  return `${urlOf(folder, port)}?host=${encodeURIComponent(sockets)}`;
}

/**
 * Asks the server on `port` whether it answers queries and is the one of this folder. An open port is not enough:
 * until recovery ends, connections are refused with 57P03.
 *
 * Returns null when all is well, and otherwise why not.
 */
export async function whyNotReady(folder: ClusterFolder, port: number): Promise<string | null> {
  try {
    return await withClient(urlOf(folder, port, 'postgres'), LOOK_WITHIN_MS, async (client) => {
      const { rows } = await client.query<{ folder: string }>("SELECT current_setting('data_directory') AS folder");
      return rows[0]?.folder === folder.pgdata ? null : `port ${port} is another server's (${rows[0]?.folder})`;
    });
  } catch (error) {
    return (error as Error).message;
  }
}

/** Creates the database on the first start, and does nothing later. */
export async function ensureDatabase(folder: ClusterFolder, port: number): Promise<void> {
  await withClient(urlOf(folder, port, 'postgres'), CONNECT_WITHIN_MS, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query('CREATE DATABASE deadman');
  });
}

async function withClient<T>(url: string, connectWithinMs: number, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectWithinMs,
    query_timeout: QUERY_WITHIN_MS,
  });
  // A connection that breaks between two queries is reported by the next one; unheard, the event would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}
