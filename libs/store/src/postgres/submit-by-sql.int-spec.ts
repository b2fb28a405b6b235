import { DEFAULT_MAX_ATTEMPTS, DEFAULT_RETRY, toRetryPolicy } from '@deadman/domain';
import type { JobSpec, RetryRequest, StoreNotice } from '@deadman/domain';
import { aSubmission, createTestDatabase, eventually } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { aTicketClaim, outboxRows } from '../contract/store-under-test.contract.js';
import { openPostgres } from './postgres-database.js';
import type { PostgresDatabase } from './postgres-database.js';
import { PostgresJobStore } from './postgres-job-store.js';
import { PostgresStoreNotices } from './postgres-store-notices.js';
import { MIGRATED, TestSession } from './test-session.contract.js';

const SUBMIT = 'SELECT deadman.submit($1, $2) AS id';

describe('deadman.submit', () => {
  let database: TestDatabase;
  let db: PostgresDatabase;
  let store: PostgresJobStore;
  let session: TestSession;
  /** A program that knows nothing of Deadman but this one function. */
  let program: Client;

  beforeAll(async () => {
    database = await createTestDatabase({ template: MIGRATED });
    db = await openPostgres({ url: database.url });
    store = new PostgresJobStore(db);
    session = await TestSession.open(database.url);
    program = await connect();
  });

  afterAll(async () => {
    await program.end();
    await session.close();
    await db.close();
    await database.drop();
  });

  beforeEach(() => session.reset());

  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    return client;
  }

  /** What a call that is written out returns. */
  async function submit(call: string, values: readonly unknown[] = [], by = program): Promise<string> {
    const { rows } = await by.query<{ id: string }>(`SELECT deadman.submit(${call}) AS id`, [...values]);
    return rows[0]!.id;
  }

  /** Everything that a job is in the database, but for what no two jobs share. */
  async function everythingOf(id: string): Promise<unknown> {
    const { rows } = await session.client.query<{ job: Record<string, unknown> }>(
      `SELECT to_jsonb(j) - '{id,created_at,scheduled_for}'::text[] || jsonb_build_object(
         'due_after', j.scheduled_for - j.created_at,
         'tag_rows', (SELECT jsonb_agg(t.tag ORDER BY t.tag) FROM deadman.job_tags t
           WHERE t.job_id = j.id AND t.created_at = j.created_at),
         'tickets', (SELECT jsonb_agg(jsonb_build_array(o.kind, o.queue, cardinality(o.job_ids), o.tries,
             o.created_at = j.created_at, o.next_try_at = j.created_at))
           FROM deadman.outbox o WHERE j.id = ANY (o.job_ids)),
         'has_key', (SELECT k.in_use_at = j.created_at FROM deadman.idempotency_keys k WHERE k.job_id = j.id)
       ) AS job FROM deadman.jobs j WHERE j.id = $1`,
      [id],
    );
    return rows[0]!.job;
  }

  const LIKE_THE_API: readonly (readonly [string, string, Parameters<typeof aSubmission>])[] = [
    ['with nothing said', `'mail.send'`, [{ payload: '{}' }]],
    [
      'with everything said',
      `'mail.send', '{"n":12345678901234567890,"d":1.10}', queue => 'bulk', max_attempts => 3, timeout_seconds => 60,
       retry => '{"kind":"fixed","baseSeconds":5}', tags => '{b,a,b}', idempotency_key => ' key ',
       traceparent => '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'`,
      [
        {
          payload: '{"n":12345678901234567890,"d":1.10}',
          queue: 'bulk',
          maxAttempts: 3,
          timeoutMs: 60_000,
          retry: { kind: 'fixed', baseMs: 5_000 },
          tags: ['b', 'a', 'b'],
          idempotencyKey: 'key',
          traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
        },
      ],
    ],
    ['with a delay', `'mail.send', delay_seconds => 90`, [{ payload: '{}' }, { kind: 'after', delayMs: 90_000 }]],
    [
      'for a time that has passed',
      `'mail.send', run_at => '2020-01-01T00:00:00Z'`,
      [{ payload: '{}' }, { kind: 'at', at: new Date('2020-01-01T00:00:00Z') }],
    ],
  ];

  it.each(LIKE_THE_API)('stores a job %s as the store itself does', async (_what, call, [spec, due]) => {
    const defaults: Partial<JobSpec> = {
      type: 'mail.send',
      maxAttempts: DEFAULT_MAX_ATTEMPTS,
      retry: DEFAULT_RETRY,
      timeoutMs: 900_000,
    };
    const { results } = await store.submit([aSubmission({ ...defaults, ...spec }, due)]);
    const byStore = await everythingOf(results[0]!.job.id);
    await session.reset();
    expect(await everythingOf(await submit(call))).toEqual(byStore);
  });

  it('schedules for an instant', async () => {
    const at = new Date(Math.trunc(Date.now() / 1_000) * 1_000 + 3_600_000);
    const id = await submit(`'mail.send', run_at => $1`, [at]);
    expect(await store.findJob(id)).toMatchObject({ state: 'SCHEDULED', scheduledFor: at });
  });

  it.each<RetryRequest>([
    { kind: 'none' },
    { kind: 'fixed' },
    { kind: 'fixed', baseSeconds: 0 },
    { kind: 'exponential' },
    { kind: 'exponential', baseSeconds: 1_000 },
    { kind: 'exponential', baseSeconds: 1, factor: 1.5, maxSeconds: 60, jitter: 'equal' },
  ])('understands the retry %j as the api does', async (retry) => {
    const id = await submit(`'mail.send', retry => $1`, [JSON.stringify(retry)]);
    expect((await store.findJob(id))!.retry).toEqual(toRetryPolicy(retry));
  });

  it.each([
    ['a text', `' {"a" : 1.10} '`, '{"a" : 1.10}'],
    ['json', `json_build_object('a', 1.10)`, '{"a" : 1.10}'],
    ['jsonb', `jsonb_build_object('b', 1, 'a', 1.10)`, '{"a": 1.10, "b": 1}'],
    ['a row', `(SELECT r FROM (SELECT 7 AS n) AS r)`, '{"n":7}'],
    ['a number', `7`, '7'],
    ['nothing', `NULL`, '{}'],
    ['null in JSON', `'null'`, 'null'],
  ])('takes %s for a payload', async (_what, payload, text) => {
    expect((await store.findJob(await submit(`'mail.send', ${payload}`)))!.payload).toBe(text);
  });

  it.each([
    ['the type', `'Mail'`, 'type is'],
    ['a type that is missing', `NULL`, 'type is'],
    ['a type with a line break', `E'mail\\n'`, 'type is'],
    ['a long type', `repeat('a', 129)`, 'type is'],
    ['the queue', `'a', queue => 'A b'`, 'queue is'],
    ['a large payload', `'a', to_json(repeat('x', 262143))`, '262144 bytes'],
    ['a deep payload', `'a', repeat('[', 101) || repeat(']', 101)`, '100 levels'],
    ['two times', `'a', run_at => now(), delay_seconds => 1`, 'exclude each other'],
    ['a time too far ahead', `'a', run_at => 'infinity'`, 'run_at is'],
    ['a delay', `'a', delay_seconds => -1`, 'delay_seconds is'],
    ['a delay too far ahead', `'a', delay_seconds => 315532801`, 'delay_seconds is'],
    ['max_attempts', `'a', max_attempts => 0`, 'max_attempts is'],
    ['timeout_seconds', `'a', timeout_seconds => 604801`, 'timeout_seconds is'],
    ['an empty tag', `'a', tags => '{""}'`, 'tags are'],
    ['no tag', `'a', tags => ARRAY[NULL]`, 'tags are'],
    ['21 tags', `'a', tags => array_fill('t'::text, ARRAY[21])`, 'tags are'],
    ['an empty key', `'a', idempotency_key => ' '`, 'idempotency_key is'],
    ['a key with an umlaut', `'a', idempotency_key => 'ü'`, 'idempotency_key is'],
    ['a retry of no kind', `'a', retry => '{"kind":"often"}'`, 'retry is'],
    ['a retry that is no object', `'a', retry => '[]'`, 'retry is'],
    ['a retry with a member too many', `'a', retry => '{"kind":"none","baseSeconds":1}'`, 'retry has a member'],
    ['a retry out of range', `'a', retry => '{"kind":"fixed","baseSeconds":1.5}'`, 'retry has a member'],
    ['a factor out of range', `'a', retry => '{"kind":"exponential","factor":0.5}'`, 'retry has a member'],
    ['an unknown jitter', `'a', retry => '{"kind":"exponential","jitter":"some"}'`, 'retry has a member'],
  ])('refuses %s, and says why', async (_what, call, complaint) => {
    await expect(submit(call)).rejects.toMatchObject({ code: '22023', message: expect.stringContaining(complaint) });
    expect(await store.countJobs({}, 10)).toBe(0);
  });

  it.each([
    ['is no JSON', '{'],
    ['holds a NUL', '{"a":["\\u0000"]}'],
    ['holds a lone surrogate', '["\\ud800"]'],
    ['has a NUL in a name', '{"\\u0000":1}'],
  ])('refuses a payload that %s', async (_what, payload) => {
    await expect(program.query(SUBMIT, ['a', payload])).rejects.toMatchObject({ code: /^22/ });
  });

  it('says all that is wrong at once', async () => {
    await expect(submit(`'A', queue => 'B', max_attempts => 0`)).rejects.toThrow(/type is.*queue is.*max_attempts is/);
  });

  it('takes a hundred levels, brackets in texts and escapes that can be stored', async () => {
    for (const payload of [
      '['.repeat(100) + ']'.repeat(100),
      `"${'['.repeat(200)}\\""`,
      '"\\ud83d\\ude00\\u0001\\\\u0000"',
    ]) {
      const { rows } = await program.query<{ id: string }>(SUBMIT, ['a', payload]);
      expect((await store.findJob(rows[0]!.id))!.payload).toBe(payload);
    }
  });

  describe('is a part of its caller’s transaction', () => {
    it('and nobody sees a job that is rolled back', async () => {
      await program.query('BEGIN');
      const id = await submit(`'mail.send', tags => '{t}', idempotency_key => 'k'`);
      expect(await store.findJob(id)).toBeNull();
      await program.query('ROLLBACK');
      expect([await store.findJob(id), await outboxRows(store)]).toEqual([null, []]);
      expect((await store.submit([aSubmission({ idempotencyKey: 'k' })])).results[0]!.kind).toBe('created');
    });

    it('and once that commits, relay and claims find the job', async () => {
      await program.query('BEGIN');
      const id = await submit(`'demo.echo'`);
      await program.query('COMMIT');
      expect(await outboxRows(store)).toMatchObject([{ kind: 'ready', queue: 'default', jobIds: [id] }]);
      expect(await store.claim(aTicketClaim([id]))).toMatchObject([{ id, attempt: 1 }]);
    });
  });

  it('sends a notice of a job that is due before the next scan', async () => {
    const heard: StoreNotice[] = [];
    const notices = new PostgresStoreNotices({ url: database.url });
    const { unsubscribe } = await notices.subscribe((notice) => heard.push(notice));
    await submit(`'a', delay_seconds => 3600`);
    await submit(`'a'`);
    await submit(`'a', delay_seconds => 1`);
    await eventually(() => expect(heard).toEqual([{ kind: 'due' }]));
    await unsubscribe();
  });

  describe('an idempotency key', () => {
    it('is answered with the job that has it, whoever submitted that', async () => {
      const { results } = await store.submit([aSubmission({ idempotencyKey: 'k' })]);
      expect(await submit(`'mail.send', idempotency_key => 'k'`)).toBe(results[0]!.job.id);
      const id = await submit(`'mail.send', idempotency_key => 'other'`);
      const { results: replayed } = await store.submit([aSubmission({ idempotencyKey: 'other' })]);
      expect(replayed).toMatchObject([{ kind: 'replayed', job: { id } }]);
    });

    it('is told of when it was used for another request, and of nothing that says the same', async () => {
      const warnings: string[] = [];
      program.on('notice', ({ message }) => warnings.push(message ?? ''));
      await submit(`'a', '{"a":1,"b":[1.10, "x\\u0041"]}', idempotency_key => 'k', tags => '{t}'`);
      await submit(`'a', '{"b" : [1.10,"xA"], "a":1}', idempotency_key => 'k', tags => '{t}'`);
      expect(warnings).toEqual([]);
      await submit(`'a', '{"a":1,"b":[1.1, "xA"]}', idempotency_key => 'k', queue => 'q'`);
      expect(warnings).toEqual([expect.stringContaining('differs in: payload, queue, tags')]);
      program.removeAllListeners('notice');
    });

    it('waits for an unfinished transaction that has it, and is free when that rolls back', async () => {
      const other = await connect();
      await other.query('BEGIN');
      await submit(`'a', idempotency_key => 'k'`, [], other);
      const waiting = submit(`'a', idempotency_key => 'k'`);
      await eventually(async () => {
        const { rowCount } = await session.client.query('SELECT FROM pg_locks WHERE NOT granted');
        expect(rowCount).toBe(1);
      });
      await other.query('ROLLBACK');
      const id = await waiting;
      await other.query('BEGIN');
      expect(await submit(`'a', idempotency_key => 'k'`, [], other)).toBe(id);
      await other.end();
      expect(await store.countJobs({}, 10)).toBe(1);
    });
  });

  it('needs no right on the tables, and gives none', async () => {
    const role = `shop_${Date.now()}`;
    await program.query(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA deadman TO ${role}; SET ROLE ${role}`);
    const id = await submit(`'mail.send'`);
    await expect(program.query('SELECT FROM deadman.jobs')).rejects.toMatchObject({ code: '42501' });
    await program.query(`RESET ROLE; REVOKE USAGE ON SCHEMA deadman FROM ${role}; DROP ROLE ${role}`);
    expect(await store.findJob(id)).not.toBeNull();
  });

  it('is not led astray by what its caller puts in the search path', async () => {
    await program.query(`CREATE SCHEMA trap; CREATE FUNCTION trap.btrim(text, text) RETURNS text LANGUAGE sql AS $$ SELECT 'trapped' $$;
      SET search_path = trap, pg_catalog`);
    const id = await submit(`'mail.send', ' 1 '`);
    await program.query('RESET search_path; DROP SCHEMA trap CASCADE');
    expect((await store.findJob(id))!.payload).toBe('1');
  });
});
