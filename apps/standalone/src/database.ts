import { EmbeddedPostgresError, startEmbeddedPostgres } from '@deadman/embedded-postgres';
import { join } from 'node:path';
import { CannotStart, EXIT } from '@deadman/service-host';

/** Where the jobs are kept. */
export interface Database {
  /** May carry a password: for a driver only. */
  readonly url: string;
  /** The same in words, for people. */
  readonly description: string;
  /** Ends the server if it is ours. */
  stop(): Promise<void>;
}

export interface DatabaseChoice {
  /** Null chooses the embedded server. */
  readonly url: string | null;
  readonly dataDir: string;
  /** Hears what the embedded server has to say, a sentence at a time. */
  readonly log: (line: string) => void;
}

/**
 * The PostgreSQL that was configured, or else our own: started, or joined when an earlier process was killed and left it
 * running, and started again whenever it ends while we live.
 *
 * @throws CannotStart when the embedded server cannot be had. The server that was configured is not asked yet.
 */
export async function openDatabase({ url, dataDir, log }: DatabaseChoice): Promise<Database> {
  if (url !== null) return { url, description: `PostgreSQL at ${placeOf(url)}`, stop: () => Promise.resolve() };
  try {
    const server = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), restart: true, log });
    const description = `embedded PostgreSQL on port ${server.port}, data in ${server.dataDir}`;
    return { url: server.localUrl, description, stop: () => server.stop() };
  } catch (cause) {
    if (!(cause instanceof EmbeddedPostgresError)) throw cause;
    throw new CannotStart(EXIT.unavailable, cause.message, { cause });
  }
}

/** A folder in the parameter `host` is that of a Unix socket, and stands for the host in front. */
function placeOf(url: string): string {
  const { host, pathname, searchParams } = new URL(url);
  return (searchParams.get('host') ?? host) + pathname;
}
