import type { EffectTransaction } from '@deadman/domain';
import {
  migrate,
  openPostgres,
  PostgresEffectStore,
  PostgresJobStore,
  readMigrations,
  TransactionPool,
} from '@deadman/store';
import type { PostgresDatabase } from '@deadman/store';
import {
  aLapse,
  aSubmission,
  createTestDatabase,
  deferred,
  FaultProxy,
  FixedRandom,
  RealClock,
  RecordingEvents,
  SequenceIds,
} from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { makeRunEffects } from './run-effects.js';
import type { RunEffects } from './run-effects.js';
import { Run } from './run.js';

const FIRE = `INSERT INTO ledger VALUES ('fired')`;

/** The statements of an effect, what is in their requests, and how often the change is called when a reply to one is lost. */
const PLACES = [
  ['the look at the row', 'find-effect', 1],
  ['the begin', 'SET LOCAL deadman.effect', 1],
  ['the change', FIRE, 2],
  ['the note', 'record-effect', 2],
  ['the fence', 'hold-claim', 2],
  ['the commit', '\0commit\0', 1],
] as const;

/** A ledger without a key: it would take a second line as readily as the first. */
describe('an effect on PostgreSQL', () => {
  const clock = new RealClock();
  const ids = new SequenceIds(clock);
  let database: TestDatabase;
  let db: PostgresDatabase;
  let cutDb: PostgresDatabase;
  let store: PostgresJobStore;
  let transactions: TransactionPool;
  let proxy: FaultProxy;
  let events: RecordingEvents;
  let calls: number;

  beforeAll(async () => {
    const key = JSON.stringify(readMigrations());
    database = await createTestDatabase({ template: { key, migrate: async (url) => void (await migrate(url)) } });
    proxy = await FaultProxy.start(database.url);
    db = await openPostgres({ url: database.url });
    cutDb = await openPostgres({ url: proxy.url });
    transactions = new TransactionPool({ url: proxy.url, idleInTransactionMs: 5_000 });
    store = new PostgresJobStore(db);
    await db.dataSource.query('CREATE TABLE ledger (what text)');
  });

  afterAll(async () => {
    await transactions.close();
    await cutDb.close();
    await db.close();
    await proxy.close();
    await database.drop();
  });

  beforeEach(async () => {
    await db.dataSource.query('TRUNCATE ledger');
    events = new RecordingEvents();
    calls = 0;
  });

  async function start(): Promise<Run> {
    const { results } = await store.submit([aSubmission({ id: ids.timeOrdered() })]);
    return claim(results[0]!.job.id);
  }

  async function claim(id: string): Promise<Run> {
    const request = { token: ids.random(), workerId: ids.random(), types: ['demo.echo'], quarantineFrom: 7 };
    const [job] = await store.claim({ ...request, ids: [id] });
    const run = new Run(job!, clock.monotonicMs());
    run.phase = 'running';
    return run;
  }

  async function takeOver({ job }: Run): Promise<Run> {
    await store.apply([aLapse(job)]);
    return claim(job.id);
  }

  function effectsOf(run: Run): RunEffects {
    return makeRunEffects(run, {
      store: new PostgresEffectStore(cutDb, transactions),
      guard: { mayFire: async ({ phase, isLost }) => phase === 'running' && !isLost },
      publisher: { send: async () => 0 },
      ids,
      clock,
      random: new FixedRandom(),
      events,
    });
  }

  const cutReplyTo = (text: string): Promise<void> => proxy.cutOneReply({ request: (sent) => sent.includes(text) });

  async function fire({ query }: EffectTransaction): Promise<number> {
    calls += 1;
    await query(FIRE);
    return calls;
  }

  async function fired(): Promise<number> {
    return ((await db.dataSource.query('SELECT what FROM ledger')) as unknown[]).length;
  }

  it.each(PLACES)('is made once when the reply to %s is lost', async (_what, text, expectedCalls) => {
    const cut = cutReplyTo(text);
    const effects = effectsOf(await start());
    const value = await effects.transaction('charge', fire);
    await cut;
    expect([await fired(), calls, value]).toEqual([1, expectedCalls, calls]);
    expect(await effects.end()).toEqual(['charge']);
  });

  it.each(PLACES)('is made once by the attempt after one that died at %s', async (_what, text, expectedCalls) => {
    const dying = await start();
    const cut = cutReplyTo(text).then(() => dying.lose());
    await expect(effectsOf(dying).transaction('charge', fire)).rejects.toMatchObject({ code: 'lease-lost' });
    await cut;
    const value = await effectsOf(await takeOver(dying)).transaction('charge', fire);
    expect([await fired(), calls, value]).toEqual([1, expectedCalls, calls]);
  });

  it('is made once by two attempts that race for it', async () => {
    const first = await start();
    const isInside = deferred();
    const mayGoOn = deferred();
    const late = effectsOf(first).transaction('charge', async (transaction) => {
      await fire(transaction);
      isInside.resolve();
      await mayGoOn.promise;
    });
    await isInside.promise;
    const second = await takeOver(first);
    const value = await effectsOf(second).transaction('charge', fire);
    mayGoOn.resolve();
    // The first one learns that the effect exists before it learns that the job is gone: it is given what exists.
    expect([await late, value, await fired()]).toEqual([2, 2, 1]);
  });

  it('remembers a step through lost replies', async () => {
    const run = await start();
    for (const name of ['begin-step', 'finish-step']) void cutReplyTo(name);
    const told: boolean[] = [];
    const work = ({ isInDoubt }: { readonly isInDoubt: boolean }): number => told.push(isInDoubt);
    expect(await effectsOf(run).step('mail', work)).toBe(1);
    expect(await effectsOf(await takeOver(run)).step('mail', work)).toBe(1);
    expect(told).toEqual([false]);
  });
});
