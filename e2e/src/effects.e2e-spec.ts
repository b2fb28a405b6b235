import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SqlProbe } from '@deadman/testing';
import { join } from 'node:path';
import { JobClient, judge } from './job-client.js';
import { Site } from './standalone-process.js';

const JOBS = 200;
const SLOTS = 64;
const TTL_MS = 2_000;

/** Whole processes on a busy machine, several starts and leases to lapse. */
const TIMEOUT_MS = 180_000;

const HANDLERS = join(import.meta.dirname, '..', 'fixtures', 'ledger-handlers.mjs');

let site: Site;
let database: SqlProbe;

beforeAll(async () => {
  const env = {
    DEADMAN_SLOTS: String(SLOTS),
    DEADMAN_TRANSACTIONS: String(SLOTS),
    DEADMAN_LEASE_TTL_MS: String(TTL_MS),
  };
  site = await Site.open({ ...env, DEADMAN_QUEUES: 'default,killed', DEADMAN_HANDLERS: HANDLERS });
  await site.start();
  database = new SqlProbe((await site.joinPostgres()).url);
  await database.rows('CREATE TABLE ledger (job_id uuid NOT NULL, attempt integer NOT NULL)');
  await site.killAll();
}, TIMEOUT_MS);

afterEach(() => site.killAll(), TIMEOUT_MS);

afterAll(async () => {
  await database.close();
  await site.close();
}, TIMEOUT_MS);

const clientOf = (queue: string): JobClient => new JobClient(`http://127.0.0.1:${site.port}`, queue);

/** How often each job has fired, by the attempts that did. */
async function firings(): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = await database.rows<{ job_id: string; attempts: number[] }>(
    'SELECT job_id, array_agg(attempt) AS attempts FROM ledger GROUP BY job_id',
  );
  return new Map(rows.map(({ job_id, attempts }) => [job_id, attempts]));
}

describe('an effect', () => {
  it(
    'is fired once for each of 200 jobs whose process is killed twice while they run',
    async () => {
      const client = clientOf('killed');
      let standalone = await site.start();
      // Up to half a second before the effect, inside its transaction, and after it.
      const ids = await client.submitMany(JOBS, 'ledger.fire', (n) => [(n * 37) % 500, (n * 53) % 500, (n * 71) % 500]);
      for (const succeeded of [1, JOBS / 2]) {
        await client.untilCounts((counts) => (counts['succeeded'] ?? 0) >= succeeded && (counts['running'] ?? 0) > 0);
        standalone.kill('SIGKILL');
        await standalone.ended;
        standalone = await site.start();
      }
      await client.untilCounts(({ succeeded }) => succeeded === JOBS, 120_000);

      const judgement = await judge(client, ids);
      const fired = await firings();
      const jobs = await Promise.all(ids.map((id) => client.find(id)));
      const double = ids.filter((id) => fired.get(id)!.length !== 1).length;
      // Jobs whose last attempt found that an earlier one had fired already.
      const absorbed = jobs.filter(({ id, attempt }) => fired.get(id)![0]! < attempt).length;
      console.info(`effects under kill -9: ${JSON.stringify({ ...judgement, fired: fired.size, double, absorbed })}`);
      expect({ lost: judgement.lost, doubled: judgement.doubled, fired: fired.size, double }).toEqual({
        lost: 0,
        doubled: 0,
        fired: JOBS,
        double: 0,
      });
      // The zeros above mean nothing if no run was repeated, and none after its effect.
      expect(judgement.duplicateRuns).toBeGreaterThan(0);
      expect(absorbed).toBeGreaterThan(0);
      for (const { id, result } of jobs) expect(result).toEqual({ byAttempt: fired.get(id)![0] });
    },
    TIMEOUT_MS,
  );

  it(
    'brings the job that was handed in with it to its end',
    async () => {
      const client = clientOf('default');
      await site.start();
      const { id } = await client.submit('ledger.follow', null);
      const { result } = await client.untilEnded(id);
      const follower = await client.untilEnded((result as { id: string }).id);
      expect(follower).toMatchObject({ state: 'succeeded', result: { after: id } });
    },
    TIMEOUT_MS,
  );
});

describe('a job that was submitted by SQL', () => {
  /** The requests as a client writes them and as SQL does. Where the api is given no time, both are due now. */
  const REQUESTS: readonly (readonly [string, object, string])[] = [
    ['with nothing said', { type: 'nobody.home' }, `'nobody.home'`],
    [
      'with everything said',
      {
        type: 'nobody.home',
        payload: { b: [1.5, 'é\n"😀'], a: { '\uffff': 1, '😀': 2 }, n: null },
        delaySeconds: 3600,
        maxAttempts: 7,
        retry: { kind: 'exponential', baseSeconds: 1, factor: 3, maxSeconds: 60, jitter: 'equal' },
        timeoutSeconds: 60,
        tags: ['b', 'a'],
      },
      `'nobody.home', E'{"b":[1.5,"é\\\\n\\\\"😀"],"a":{"\uffff":1,"😀":2},"n":null}', delay_seconds => 3600,
       max_attempts => 7, timeout_seconds => 60, tags => '{b,a}',
       retry => '{"kind":"exponential","baseSeconds":1,"factor":3,"maxSeconds":60,"jitter":"equal"}'`,
    ],
  ];

  it.each(REQUESTS)(
    '%s is indistinguishable from one that came through the api',
    async (_what, request, call) => {
      await site.start();
      const url = `http://127.0.0.1:${site.port}/jobs`;
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'by-api' };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) });
      const { id: byApi } = (await answer.json()) as { id: string };
      const bySql = await database.row<{ id: string }>(
        `SELECT deadman.submit(${call}, idempotency_key => 'by-sql') AS id`,
      );
      expect(await everythingOf(bySql.id)).toEqual(await everythingOf(byApi));
      await database.rows(`DELETE FROM deadman.idempotency_keys`);
    },
    TIMEOUT_MS,
  );

  /** Its row, its tags, its key with the fingerprint; not what no two jobs share, nor the ticket, which is sent at once. */
  async function everythingOf(id: string): Promise<unknown> {
    const { job } = await database.row<{ job: unknown }>(
      `SELECT to_jsonb(j) - '{id,created_at,scheduled_for,idempotency_key}'::text[] || jsonb_build_object(
         'due_after', j.scheduled_for - j.created_at,
         'tag_rows', (SELECT jsonb_agg(t.tag ORDER BY t.tag) FROM deadman.job_tags t WHERE t.job_id = j.id),
         'fingerprint', (SELECT k.fingerprint FROM deadman.idempotency_keys k WHERE k.key = j.idempotency_key)
       ) AS job FROM deadman.jobs j WHERE j.id = $1`,
      [id],
    );
    return job;
  }

  it(
    'is run once its transaction commits, and never when that rolls back',
    async () => {
      const client = clientOf('default');
      await site.start();
      await database.rows(`BEGIN; SELECT deadman.submit('demo.echo', tags => '{undone}'); ROLLBACK`);
      const submitted = await database.rows<{ id: string }>(
        `SELECT deadman.submit('demo.echo', '"hello"') AS id FROM generate_series(1, 2)`,
      );
      for (const { id } of submitted) expect(await client.untilEnded(id)).toMatchObject({ result: 'hello' });
      const undone = await fetch(`http://127.0.0.1:${site.port}/jobs?tag=undone`);
      expect(await undone.json()).toMatchObject({ items: [] });
    },
    TIMEOUT_MS,
  );
});
