import { readdirSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import type { JobFilter, Position } from '@deadman/domain';
import { aCancel, aSubmission, aSuccess, createTestDatabase } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { escapeLiteral } from 'pg';
import { runningJob } from '../contract/store-under-test.contract.js';
import { openPostgres } from './postgres-database.js';
import type { PostgresDatabase, Values } from './postgres-database.js';
import { PostgresJobStore } from './postgres-job-store.js';
import { PostgresWorkerRegistry } from './postgres-worker-registry.js';
import { statement } from './statement.js';
import type { Statement } from './statement.js';
import { MIGRATED, TestSession } from './test-session.contract.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

interface Plan {
  readonly Plan: PlanNode & { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
}

let database: TestDatabase;
let db: PostgresDatabase;
let session: TestSession;
let store: PostgresJobStore;

beforeAll(async () => {
  database = await createTestDatabase({ template: MIGRATED });
  db = await openPostgres({ url: database.url, poolSize: 1 });
  session = await TestSession.open(database.url);
  store = new PostgresJobStore(db);
});

afterAll(async () => {
  await db.close();
  await session.close();
  await database.drop();
});

/** The plan for any values, which is the one that the store's connections keep. */
async function planOf({ text }: Statement): Promise<Plan> {
  const rows: { 'QUERY PLAN': Plan[] }[] = await db.dataSource.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
  return rows[0]!['QUERY PLAN'][0]!;
}

/** The same plan with what it cost for these values. */
async function runPlan({ text }: Statement, values: Values): Promise<Plan> {
  const literals = values.map((value) => (value === null ? 'NULL' : escapeLiteral(String(value))));
  await db.dataSource.query(`PREPARE explained AS ${text}`);
  const rows: { 'QUERY PLAN': Plan[] }[] = await db.dataSource.query(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE explained (${literals.join(', ')})`,
  );
  await db.dataSource.query('DEALLOCATE explained');
  return rows[0]!['QUERY PLAN'][0]!;
}

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}

/** Small tables, or tables without a word about an index in the head of the statement. */
const READ_WHOLE = new Set(['reaper_watch', 'schema_version', 'workers']);

async function foreignIndexes(wanted: Statement): Promise<readonly string[]> {
  const plan = await planOf(wanted);
  return [...nodesOf(plan.Plan)].flatMap((node) => {
    const index = node['Index Name'];
    if (node['Node Type'] === 'Seq Scan' && !READ_WHOLE.has(node['Relation Name'] ?? ''))
      return [`all of ${node['Relation Name']}`];
    return index === undefined || wanted.text.includes(index) || READ_WHOLE.has(node['Relation Name'] ?? '')
      ? []
      : [index];
  });
}

const STATEMENTS = readdirSync(new URL('./statements/', import.meta.url)).map((file) => file.replace('.sql', ''));

describe('every statement', () => {
  it.each(STATEMENTS)('%s: uses the indexes that its head names, on a database that never saw a job', async (name) => {
    expect(await foreignIndexes(statement(name))).toEqual([]);
  });

  it.each(STATEMENTS)('%s: says at its head what it is called', (name) => {
    expect(statement(name).text.startsWith(`-- ${name}: `)).toBe(true);
  });
});

describe('with statistics that know of no running job', () => {
  beforeAll(async () => {
    for (let batch = 0; batch < 10; batch += 1) await submitAndCancel(500);
    await session.client.query('ANALYZE deadman.jobs');
  });

  it.each(STATEMENTS)('%s: still uses the indexes that its head names', async (name) => {
    expect(await foreignIndexes(statement(name))).toEqual([]);
  });

  it('a settled batch reads no more rows than it has, however many run', async () => {
    const readBySettling = async (count: number): Promise<number> => {
      const own = await submitAndClaim(count);
      const before = await rowsRead();
      await store.apply(own.map((job) => aSuccess(job)));
      return (await rowsRead()) - before;
    };
    const alone = await readBySettling(100);
    expect(alone).toBeGreaterThan(0);
    for (let batch = 0; batch < 8; batch += 1) await submitAndClaim(500);
    expect(await readBySettling(100)).toBeLessThanOrEqual(alone * 1.2);
  });
});

/** Rows of jobs that the store's statements have found through indexes. */
async function rowsRead(): Promise<number> {
  await flushCounts();
  const { rows } = await session.client.query<{ rows_read: string }>(
    `SELECT idx_tup_fetch AS rows_read FROM pg_stat_all_tables WHERE relid = 'deadman.jobs'::regclass`,
  );
  return Number(rows[0]!.rows_read);
}

/** Notes what a store sends, so that the very same can be explained. */
class StatementSpy {
  sent: { readonly statement: Statement; readonly values: Values } | null = null;
  readonly db: PostgresDatabase;

  constructor(real: PostgresDatabase) {
    this.db = Object.create(real, {
      read: { value: (wanted: Statement, values: Values) => this.#note(wanted, values, real.read(wanted, values)) },
      write: { value: (wanted: Statement, values: Values) => this.#note(wanted, values, real.write(wanted, values)) },
    }) as PostgresDatabase;
  }

  #note<T>(wanted: Statement, values: Values, result: T): T {
    this.sent ??= { statement: wanted, values };
    return result;
  }
}

describe('a page of a list', () => {
  const PAGE = 3;
  const DEEP = 1_000;

  beforeAll(async () => {
    await session.reset();
    // Everything is in the filters' way: all jobs have two queues, two types and a tag; half of them have ended.
    for (let batch = 0; batch < 26; batch += 1) {
      const { results } = await store.submit(
        Array.from({ length: 500 }, (_, index) =>
          aSubmission({ ...A_MIX[index % A_MIX.length], tags: ['tenant:acme'] }),
        ),
      );
      await store.apply(results.filter((_, index) => index % 4 > 1).map(({ job }) => aCancel(job)));
    }
    await session.client.query('VACUUM ANALYZE deadman.jobs, deadman.job_tags');
  }, 60_000);

  const filters: readonly (readonly [string, JobFilter])[] = [
    ['nothing', {}],
    ['a state', { states: ['CANCELLED'] }],
    ['a type', { types: ['a.one'] }],
    ['a queue', { queues: ['default'] }],
    ['a tag', { tags: ['tenant:acme'] }],
    ['a state and a type', { states: ['PENDING'], types: ['b.two'] }],
    ['a state and a queue', { states: ['PENDING'], queues: ['default'] }],
    ['a tag and a state', { states: ['PENDING'], tags: ['tenant:acme'] }],
  ];

  it.each(filters)('filtered by %s costs the same however deep it is', async (_what, filter) => {
    for (const order of ['newest-first', 'oldest-first'] as const) {
      const first = await buffersOf({ ...filter, order, limit: PAGE });
      const skipped = await store.listJobs({ ...filter, order, limit: PAGE * (DEEP - 1) });
      expect(skipped.next).not.toBeNull();
      const deep = await buffersOf({ ...filter, order, limit: PAGE, after: skipped.next! });
      expect(deep).toBeLessThanOrEqual(first * 2);
      expect(first).toBeLessThan(200);
    }
  });

  async function buffersOf(
    query: JobFilter & { order: 'newest-first' | 'oldest-first'; limit: number; after?: Position },
  ): Promise<number> {
    const spy = new StatementSpy(db);
    const { items } = await new PostgresJobStore(spy.db).listJobs(query);
    expect(items).toHaveLength(PAGE);
    const { Plan: plan } = await runPlan(spy.sent!.statement, spy.sent!.values);
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  }
});

describe('an idle claim', () => {
  it('costs the same however many jobs of types that nobody runs wait in its queue', async () => {
    await session.reset();
    const empty = await buffersOfIdleClaim();
    for (let batch = 0; batch < 20; batch += 1) {
      await store.submit(Array.from({ length: 500 }, () => aSubmission({ type: 'not.deployed' })));
    }
    await session.client.query('VACUUM ANALYZE deadman.jobs');
    expect(await buffersOfIdleClaim()).toBeLessThanOrEqual(empty + 20);
  });

  async function buffersOfIdleClaim(): Promise<number> {
    const spy = new StatementSpy(db);
    const claimed = await new PostgresJobStore(spy.db).claimIdle({
      token: randomUUID(),
      workerId: randomUUID(),
      types: ['a.one', 'b.two'],
      queues: ['default'],
      quarantineFrom: 7,
      limit: 500,
      minAgeMs: 0,
      alone: false,
    });
    expect(claimed).toEqual([]);
    const { Plan: plan } = await runPlan(spy.sent!.statement, spy.sent!.values);
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  }
});

describe('an update that changes no indexed column', () => {
  const hotShareOf = async (table: string, act: () => Promise<unknown>): Promise<number> => {
    const before = await updatesOf(table);
    await act();
    const after = await updatesOf(table);
    expect(after.all - before.all).toBeGreaterThan(0);
    return (after.hot - before.hot) / (after.all - before.all);
  };

  async function updatesOf(table: string): Promise<{ all: number; hot: number }> {
    await flushCounts();
    const { rows } = await session.client.query<{ all: string; hot: string }>(
      'SELECT n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_all_tables WHERE relid = $1::regclass',
      [`deadman.${table}`],
    );
    return { all: Number(rows[0]!.all), hot: Number(rows[0]!.hot) };
  }

  it('touches no index: progress, beats and scans', async () => {
    const job = await runningJob(store);
    const workers = new PostgresWorkerRegistry(db);
    const worker = { incarnation: randomUUID(), name: 'w', types: ['a'], queues: ['b'], slots: 1 };
    const twenty = async (act: () => Promise<unknown>): Promise<void> => {
      for (let round = 0; round < 20; round += 1) await act();
    };
    const progress = { jobId: job.id, attempt: job.attempt, token: job.claim.token, value: '{"percent":50}' };
    expect(await hotShareOf('progress', () => twenty(() => store.saveProgress([progress])))).toBe(1);
    expect(
      await hotShareOf('workers', () => twenty(() => workers.beat({ worker, quarantineFrom: 7, quarantineWaitMs: 1 }))),
    ).toBe(1);
    expect(
      await hotShareOf('reaper_watch', () => twenty(() => store.markScan({ gapMs: 3_000, sawError: false }))),
    ).toBe(1);
  });
});

const A_MIX = [0, 1, 2, 3, 4, 5].map((place) => ({
  type: place % 2 ? 'a.one' : 'b.two',
  queue: place % 3 ? 'default' : 'bulk',
}));

/** A session reports what it counted when it has ended a transaction after being told to. The store's has one connection. */
async function flushCounts(): Promise<void> {
  await db.dataSource.query('SELECT pg_stat_force_next_flush()');
  await db.dataSource.query('SELECT 1');
}

async function submitAndCancel(count: number): Promise<void> {
  const batch = Array.from({ length: count }, (_, index) => aSubmission(A_MIX[index % A_MIX.length]));
  const { results } = await store.submit(batch);
  await store.apply(results.map(({ job }) => aCancel(job)));
}

async function submitAndClaim(count: number): ReturnType<PostgresJobStore['claim']> {
  const { results } = await store.submit(Array.from({ length: count }, () => aSubmission()));
  const ids = results.map(({ job }) => job.id);
  return store.claim({ ids, token: randomUUID(), workerId: randomUUID(), types: ['demo.echo'], quarantineFrom: 7 });
}
