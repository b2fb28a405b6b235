/** What a page of a list costs, near the top and deep down, in pages of the buffer cache: a count, not a time. */
import { migrate, openPostgres, PostgresJobStore } from '@deadman/store';
import pg from 'pg';

const PAGE = 50;
const REPEATS = 20;
/** PostgreSQL publishes what a connection has read a second after the fact, with the next statement. */
const PUBLISHED_AFTER_MS = 1_200;

const ENDED_JOBS = `
  INSERT INTO deadman.jobs (
    id, created_at, scheduled_for, finished_at, timeout_ms, version, attempt, failures, lapses, lapses_in_row, crashes,
    snoozes, max_attempts, alone, state, type, queue, tags, retry, payload, result
  )
  SELECT
    gen_random_uuid(), at, at, at, 900000, 3, 1, 0, 0, 0, 0, 0, 5, false, 'SUCCEEDED', 'bench.ended', 'default', '{}',
    '{"kind":"none"}', '{"text":"' || repeat('x', 189) || '"}', 'null'
  FROM (
    SELECT date_trunc('milliseconds', now() - interval '1 day' + n * interval '5 ms') AS at
    FROM generate_series($1::integer, $2::integer) AS n
  ) AS times`;

const BLOCKS_READ = `
  SELECT sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0)) AS blocks
  FROM pg_statio_user_tables WHERE schemaname = 'deadman'`;

/**
 * Buffers read by page one and by page `depth` of the succeeded jobs among `rows`, in a database of its own in which
 * nobody else reads, the vacuum neither.
 */
export async function listBuffers(serverUrl, { rows, depth }) {
  const databaseUrl = await createDatabase(serverUrl, 'bench_lists');
  await migrate(databaseUrl);
  await fill(databaseUrl, rows);
  const admin = new pg.Client(databaseUrl);
  await admin.connect();
  const database = await openPostgres({ url: databaseUrl, poolSize: 1 });
  try {
    const store = new PostgresJobStore(database);
    const read = (after) => store.listJobs({ states: ['SUCCEEDED'], order: 'newest-first', limit: PAGE, after });
    const deep = await walk(read, depth - 1);
    return {
      first: await buffersOf(admin, store, () => read(undefined)),
      deep: await buffersOf(admin, store, () => read(deep)),
    };
  } finally {
    await database.close();
    await admin.end();
  }
}

async function createDatabase(serverUrl, name) {
  const admin = new pg.Client(serverUrl);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** On a connection of its own: what it has read would otherwise be published in the middle of the measurement. */
async function fill(databaseUrl, rows) {
  const admin = new pg.Client(databaseUrl);
  await admin.connect();
  await admin.query('ALTER TABLE deadman.jobs SET (autovacuum_enabled = false)');
  const step = 100_000;
  for (let from = 1; from <= rows; from += step) await admin.query(ENDED_JOBS, [from, Math.min(rows, from + step - 1)]);
  await admin.query('VACUUM ANALYZE deadman.jobs');
  await admin.end();
}

async function walk(read, pages) {
  let after;
  for (let page = 0; page < pages; page += 1) after = (await read(after)).next;
  return after;
}

async function buffersOf(admin, store, read) {
  const before = await blocks(admin, store);
  for (let repeat = 0; repeat < REPEATS; repeat += 1) await read();
  return ((await blocks(admin, store)) - before) / REPEATS;
}

async function blocks(admin, store) {
  await new Promise((resolve) => setTimeout(resolve, PUBLISHED_AFTER_MS));
  await store.ping();
  await new Promise((resolve) => setTimeout(resolve, PUBLISHED_AFTER_MS));
  const { rows } = await admin.query(BLOCKS_READ);
  return Number(rows[0].blocks);
}
