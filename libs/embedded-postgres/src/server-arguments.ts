import type { ClusterFolder } from './cluster-folder.js';

/** PostgreSQL settings by name, as in `postgresql.conf`. */
export type ServerSettings = Record<string, string>;

/** How a server is reached: on a TCP port, and by a Unix socket in its folder or not. */
export interface Way {
  readonly port: number;
  readonly bySocket: boolean;
}

/** A scheduler's load: many short transactions. Parallel plans gain nothing there, and need room in `/dev/shm`. */
const DEFAULTS: ServerSettings = {
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};

/** For data that nobody misses: a crash of the machine may destroy it. */
const NOT_DURABLE: ServerSettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** `-D` comes first and is followed by more: a running server is recognised by that piece of its command. */
export function serverArguments(folder: ClusterFolder, way: Way, durable: boolean, settings: ServerSettings): string[] {
  const all: ServerSettings = {
    ...DEFAULTS,
    ...(durable ? {} : NOT_DURABLE),
    ...settings,
    port: String(way.port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: way.bySocket ? quoted(folder.sockets) : '',
    cluster_name: folder.clusterName,
  };
  return ['-D', folder.pgdata, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** A list of folders is split at its commas, unless they stand in quotes. */
function quoted(folder: string): string {
  return `"${folder.replaceAll('"', '""')}"`;
}
