import { DEFAULT_LIMITS, isDeadmanError } from '@deadman/domain';
import type { ApplyReceipt, ClaimedJob, Job, JobSpec, Lease, Transition } from '@deadman/domain';
import { MemoryLeaseStore } from '@deadman/leases';
import { MemoryDatabase, MemoryJobStore } from '@deadman/store';
import {
  aCancel,
  aLapse,
  anAttemptError,
  aSubmission,
  deferred,
  FakeClock,
  FixedRandom,
  RecordingEvents,
  SequenceIds,
  settle,
} from '@deadman/testing';
import { MemoryTransport } from '@deadman/transport';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AttemptOutcomeEvent } from './attempt-runner.js';
import { Publisher } from './publisher.js';
import { RunLedger } from './run-ledger.js';
import { Run } from './run.js';
import { SETTLE_DEFAULTS, Settler } from './settler.js';
import { AWAY, withFaults } from './with-faults.contract.js';
import type { CallFault } from './with-faults.contract.js';

const SUCCESS: AttemptOutcomeEvent = { kind: 'succeed', result: '{"ok":true}', effects: [], startedAfterMs: 1 };
const FAILURE: AttemptOutcomeEvent = { kind: 'fail', error: anAttemptError(), retryable: true, startedAfterMs: 1 };
const RELEASE: AttemptOutcomeEvent = { kind: 'release', reason: 'shutdown', startedAfterMs: null };

describe('Settler', () => {
  let clock: FakeClock;
  let events: RecordingEvents;
  let ids: SequenceIds;
  let db: MemoryDatabase;
  let memory: MemoryJobStore;
  let leases: MemoryLeaseStore;
  let ledger: RunLedger;
  let settler: Settler;
  let applied: number[];
  let faults: (CallFault | null)[];
  let done: string[];

  beforeEach(() => {
    clock = new FakeClock();
    events = new RecordingEvents();
    ids = new SequenceIds(clock);
    db = new MemoryDatabase(clock);
    memory = new MemoryJobStore(db);
    leases = new MemoryLeaseStore(clock);
    ledger = new RunLedger(() => {});
    applied = [];
    faults = [];
    done = [];
    const counted = withFaults(memory, (method) => (method === 'apply' ? (faults.shift() ?? null) : null));
    const store = new Proxy(counted, {
      get: (target, name): unknown => {
        if (name !== 'apply') return Reflect.get(target, name) as unknown;
        return (batch: readonly Transition[]): Promise<ApplyReceipt> => {
          applied.push(batch.length);
          return target.apply(batch);
        };
      },
    });
    const publisher = new Publisher({ transport: new MemoryTransport(clock), store: memory, clock, events });
    const rules = { limits: DEFAULT_LIMITS, random: new FixedRandom() };
    settler = new Settler({ store, leases, publisher, ledger, clock, events, rules }, SETTLE_DEFAULTS);
  });

  async function claim(id: string): Promise<Run> {
    const token = ids.random();
    const workerId = '00000000-0000-4000-8000-00000000aaaa';
    const [job] = await memory.claim({ token, workerId, types: ['demo.echo'], quarantineFrom: 7, ids: [id] });
    const run = new Run(job as ClaimedJob, clock.monotonicMs(), [
      { queue: 'default', jobIds: [id], claimed: () => undefined, done: (jobId) => void done.push(jobId) },
    ]);
    ledger.add([run]);
    ledger.start(run, clock.monotonicMs());
    await leases.acquire([run.lease], 30_000);
    return run;
  }

  /** A run of a new job. */
  async function aRun(overrides: Partial<JobSpec> = {}): Promise<Run> {
    const { results } = await memory.submit([aSubmission(overrides)]);
    return claim(results[0]!.job.id);
  }

  const someRuns = (count: number): Promise<Run[]> => Promise.all(Array.from({ length: count }, () => aRun()));
  const jobOf = (run: Run): Job => db.jobs.get(run.job.id)!;
  const isHeld = async ({ jobId }: Lease): Promise<boolean> => (await leases.read([jobId])).present[0]!;
  const outcomesOf = (run: Run): readonly string[] => (db.attempts.get(run.job.id) ?? []).map(({ outcome }) => outcome);

  it('writes a lone outcome at once, deletes its lease, drops the run and finishes its ticket', async () => {
    const run = await aRun();
    run.endedAtMs = clock.monotonicMs();
    await settler.settle(run, SUCCESS);
    await settle();
    expect(jobOf(run)).toMatchObject({ state: 'SUCCEEDED', result: '{"ok":true}', claim: null });
    expect(await isHeld(run.lease)).toBe(false);
    expect([ledger.size, done, run.phase]).toEqual([0, [run.job.id], 'gone']);
    expect(events.of('attempt-settled')).toMatchObject([
      { outcome: 'succeeded', state: 'SUCCEEDED', ranMs: 0, error: null },
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('writes what ends together in one statement', async () => {
    const runs = await someRuns(50);
    await Promise.all(runs.map((run) => settler.settle(run, SUCCESS)));
    expect(applied).toEqual([50]);
    expect(runs.map((run) => jobOf(run).state)).toEqual(Array.from({ length: 50 }, () => 'SUCCEEDED'));
  });

  it('deletes the leases of all that ended together', async () => {
    const runs = await someRuns(5);
    await Promise.all(runs.map((run) => settler.settle(run, SUCCESS)));
    await settle();
    expect(applied).toEqual([5]);
    expect(await Promise.all(runs.map(({ lease }) => isHeld(lease)))).toEqual(runs.map(() => false));
  });

  it('writes the largest results in smaller statements', async () => {
    const runs = await someRuns(100);
    const result = JSON.stringify('x'.repeat(65_534));
    await Promise.all(
      runs.map((run) => settler.settle(run, { kind: 'succeed', result, effects: [], startedAfterMs: 1 })),
    );
    expect(Math.max(...applied)).toBe(64);
    expect(runs.every((run) => jobOf(run).state === 'SUCCEEDED')).toBe(true);
  });

  it('tells how long a job took from its submit to its end, and of nothing of the kind while it has not ended', async () => {
    await memory.submit([aSubmission({ id: '01900000-0000-7000-8000-000000000001' })]);
    await clock.advance(4_000);
    const run = await claim('01900000-0000-7000-8000-000000000001');
    await clock.advance(1_000);
    run.endedAtMs = clock.monotonicMs();
    await settler.settle(run, SUCCESS);
    const failing = await aRun();
    await settler.settle(failing, FAILURE);
    expect(events.of('attempt-settled')).toMatchObject([
      { ranMs: 1_000, endToEndMs: 5_000 },
      { outcome: 'failed', state: 'FAILED', endToEndMs: null, error: FAILURE.error },
    ]);
  });

  it('settles a run once, however often it is told to', async () => {
    const run = await aRun();
    await Promise.all([settler.settle(run, SUCCESS), settler.settle(run, FAILURE)]);
    await settler.settle(run, RELEASE);
    expect(outcomesOf(run)).toEqual(['succeeded']);
    expect(done).toEqual([run.job.id]);
  });

  it('writes nothing for a lost run, and lets go of it', async () => {
    const run = await aRun();
    run.lose();
    await settler.settle(run, SUCCESS);
    expect([applied, ledger.size, done]).toEqual([[], 0, [run.job.id]]);
    expect(jobOf(run).state).toBe('RUNNING');
    expect(await isHeld(run.lease)).toBe(true);
  });

  it('counts an outcome whose claim was taken away as fenced, and writes nothing more', async () => {
    const run = await aRun();
    await memory.apply([aLapse(run.job)]);
    await settler.settle(run, SUCCESS);
    expect(events.of('write-fenced')).toEqual([
      { kind: 'write-fenced', operation: 'succeed', jobId: run.job.id, attempt: 1 },
    ]);
    expect(events.of('attempt-settled')).toEqual([]);
    expect(outcomesOf(run)).toEqual(['lapsed']);
    expect([ledger.size, done]).toEqual([0, [run.job.id]]);
  });

  it('leaves the lease of a later claim alone', async () => {
    const run = await aRun();
    await memory.apply([aLapse(run.job)]);
    const later = await claim(run.job.id);
    await settler.settle(run, SUCCESS);
    await settle();
    expect(await isHeld(later.lease)).toBe(true);
    expect(jobOf(later).state).toBe('RUNNING');
  });

  it('reports an outcome whose reply was lost as written, not as fenced', async () => {
    const run = await aRun();
    faults = [{ kind: 'reply-lost' }];
    const settled = settler.settle(run, SUCCESS);
    await clock.advance(1_000);
    await settled;
    expect(applied).toEqual([1, 1]);
    expect(events.of('attempt-settled')).toMatchObject([{ outcome: 'succeeded', state: 'SUCCEEDED' }]);
    expect(events.of('write-fenced')).toEqual([]);
    expect(outcomesOf(run)).toEqual(['succeeded']);
  });

  it('keeps outcomes for as long as the store is away, and writes them when it returns', async () => {
    const runs = await someRuns(3);
    faults = Array.from({ length: 40 }, (): CallFault => AWAY);
    const settled = Promise.all(runs.map((run) => settler.settle(run, SUCCESS)));
    await clock.advance(60_000);
    expect(ledger.size).toBe(3);
    expect(done).toEqual([]);
    faults = [];
    await clock.advance(2_000);
    await settled;
    expect(runs.map((run) => jobOf(run).state)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
    expect(events.of('loop-failed').length).toBeGreaterThan(25);
  });

  it('says what a cancel request made of an outcome', async () => {
    const [failing, succeeding] = await someRuns(2);
    await memory.apply([aCancel(jobOf(failing!)), aCancel(jobOf(succeeding!))]);
    await Promise.all([settler.settle(failing!, FAILURE), settler.settle(succeeding!, SUCCESS)]);
    expect(events.of('attempt-settled')).toMatchObject([
      { outcome: 'cancelled', state: 'CANCELLED', endToEndMs: 0 },
      { outcome: 'succeeded', state: 'SUCCEEDED' },
    ]);
  });

  it('says that a success whose effect is missing was released', async () => {
    const run = await aRun();
    await settler.settle(run, { kind: 'succeed', result: 'null', effects: ['charge'], startedAfterMs: 1 });
    expect(events.of('attempt-settled')).toMatchObject([
      { outcome: 'released', state: 'PENDING', reason: 'effects-missing' },
    ]);
    expect(jobOf(run).state).toBe('PENDING');
  });

  describe('a value that the database refuses', () => {
    const REFUSED: AttemptOutcomeEvent = { kind: 'succeed', result: '"\0"', effects: [], startedAfterMs: 1 };

    it('fails its own job with an error that says so, and leaves no neighbour RUNNING', async () => {
      const runs = await someRuns(8);
      await Promise.all(runs.map((run, index) => settler.settle(run, index === 5 ? REFUSED : SUCCESS)));
      const states = runs.map((run) => jobOf(run).state);
      expect(states).toEqual(states.map((_state, index) => (index === 5 ? 'DEAD' : 'SUCCEEDED')));
      expect(jobOf(runs[5]!).lastError).toMatchObject({ code: 'result-not-storable' });
      expect(ledger.size).toBe(0);
    });

    it('in an error is replaced by one that can be stored, and the failure stays one that may be retried', async () => {
      const run = await aRun();
      const error = anAttemptError({ message: 'a\0b' });
      await settler.settle(run, { kind: 'fail', error, retryable: true, startedAfterMs: 1 });
      expect(jobOf(run)).toMatchObject({
        state: 'FAILED',
        failures: 1,
        lastError: { message: expect.stringContaining('could not be recorded') },
      });
    });

    it('ends in a report when even the least of records is refused, and holds up nobody', async () => {
      const run = await aRun();
      const refuse: CallFault = { kind: 'refused', code: 'data-rejected' };
      faults = [refuse, refuse, refuse];
      await settler.settle(run, SUCCESS);
      expect(events.of('loop-failed').map(({ error }) => isDeadmanError(error, 'data-rejected'))).toEqual([true]);
      expect(ledger.size).toBe(0);
    });
  });

  it('judges two claims of one job one after the other, so that neither holds up the rest of a batch', async () => {
    const old = await aRun();
    await memory.apply([aLapse(old.job)]);
    const later = await claim(old.job.id);
    const neighbour = await aRun();
    await Promise.all([old, later, neighbour].map((run) => settler.settle(run, SUCCESS)));
    expect(applied).toEqual([2, 1]);
    expect(events.of('write-fenced')).toMatchObject([{ attempt: 1 }]);
    expect([jobOf(later).state, jobOf(neighbour).state]).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(outcomesOf(later)).toEqual(['lapsed', 'succeeded']);
  });

  it('does not mind leases that cannot be deleted', async () => {
    const away = new MemoryLeaseStore(clock, { isReachable: () => false });
    const publisher = new Publisher({ transport: new MemoryTransport(clock), store: memory, clock, events });
    const rules = { limits: DEFAULT_LIMITS, random: new FixedRandom() };
    const run = await aRun();
    await new Settler({ store: memory, leases: away, publisher, ledger, clock, events, rules }).settle(run, SUCCESS);
    await settle();
    expect(jobOf(run).state).toBe('SUCCEEDED');
    expect(events.of('loop-failed')).toHaveLength(1);
  });

  describe('drain', () => {
    it('waits for what is on its way', async () => {
      const open = deferred();
      faults = [{ kind: 'slow', until: open.promise }];
      const run = await aRun();
      void settler.settle(run, SUCCESS);
      let isDrained = false;
      const drained = settler.drain(5_000).then(() => (isDrained = true));
      await settle();
      expect(isDrained).toBe(false);
      open.resolve();
      await drained;
      expect(ledger.size).toBe(0);
      expect(clock.pendingTimers).toBe(0);
    });

    it('waits for the substitute of an outcome that was refused', async () => {
      const open = deferred();
      faults = [null, { kind: 'held', until: open.promise }];
      const run = await aRun();
      void settler.settle(run, { kind: 'succeed', result: '"\0"', effects: [], startedAfterMs: 1 });
      let isDrained = false;
      const drained = settler.drain(5_000).then(() => (isDrained = true));
      await settle();
      expect(isDrained).toBe(false);
      open.resolve();
      await drained;
      expect(jobOf(run).state).toBe('DEAD');
    });

    it('gives up after its time when the store stays away, and leaves no timer behind', async () => {
      const run = await aRun();
      faults = Array.from({ length: 100 }, (): CallFault => AWAY);
      void settler.settle(run, SUCCESS);
      const drained = settler.drain(5_000);
      await clock.advance(5_000);
      expect(await drained).toBe(1);
      expect(jobOf(run).state).toBe('RUNNING');
      expect(clock.pendingTimers).toBe(0);
    });
  });
});
