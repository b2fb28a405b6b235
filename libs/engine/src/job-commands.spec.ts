import { DeadmanError } from '@deadman/domain';
import type { ApplyReceipt, ClaimedJob, ErrorCode, Job, JobView, Transition } from '@deadman/domain';
import { MemoryDatabase, MemoryJobStore } from '@deadman/store';
import {
  aFailure,
  aRetry,
  aSnooze,
  aSubmission,
  aSubmissionDueIn,
  aSuccess,
  aTransition,
  FakeClock,
  RecordingEvents,
  RecordingSink,
  SeededRandom,
  SequenceIds,
  settle,
  TEST_RULES,
} from '@deadman/testing';
import { MemoryTransport } from '@deadman/transport';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { JobCommands } from './job-commands.js';
import { Publisher } from './publisher.js';

type Act = () => Promise<unknown>;

/** A store in which a test can act as somebody else between the steps of a command, and lose requests and replies. */
class RacingStore extends MemoryJobStore {
  /** What commands wrote or tried to. */
  readonly writes: Transition[] = [];
  /** Each runs once, before one write or after it. Throwing stands for a request or a reply that is lost. */
  readonly beforeWrite: Act[] = [];
  readonly afterWrite: Act[] = [];
  readonly beforeRead: Act[] = [];

  override async apply(batch: readonly Transition[]): Promise<ApplyReceipt> {
    this.writes.push(...batch);
    await this.beforeWrite.shift()?.();
    const receipt = await this.byOthers(...batch);
    await this.afterWrite.shift()?.();
    return receipt;
  }

  override async findJob(id: string): Promise<JobView | null> {
    await this.beforeRead.shift()?.();
    return super.findJob(id);
  }

  byOthers(...batch: readonly Transition[]): Promise<ApplyReceipt> {
    return super.apply(batch);
  }
}

const failsWith = (code: ErrorCode): Act => {
  return () => Promise.reject(new DeadmanError(code));
};

describe('JobCommands', () => {
  const ids = new SequenceIds();
  let clock: FakeClock;
  let events: RecordingEvents;
  let store: RacingStore;
  let transport: MemoryTransport;
  let commands: JobCommands;

  beforeEach(() => {
    clock = new FakeClock();
    events = new RecordingEvents();
    store = new RacingStore(new MemoryDatabase(clock));
    transport = new MemoryTransport(clock);
    const publisher = new Publisher({ transport, store, clock, events });
    commands = new JobCommands({ store, publisher, rules: TEST_RULES });
  });

  async function pending(): Promise<Job> {
    const { results } = await store.submit([aSubmission()]);
    return results[0]!.job;
  }

  async function scheduled(): Promise<Job> {
    const { results } = await store.submit([aSubmissionDueIn(3_600_000)]);
    return results[0]!.job;
  }

  async function claimed(job: Job): Promise<ClaimedJob> {
    const request = { token: ids.random(), workerId: ids.random(), types: [job.type], quarantineFrom: 7 };
    const [claim] = await store.claim({ ...request, ids: [job.id] });
    return claim!;
  }

  async function running(): Promise<ClaimedJob> {
    return claimed(await pending());
  }

  async function ended(end: (job: ClaimedJob) => Transition): Promise<Job> {
    const job = await running();
    await store.byOthers(end(job));
    return (await store.findJob(job.id))!;
  }

  const dies = (job: ClaimedJob): Transition => aFailure(job, {}, false);
  const isCancelled = (job: ClaimedJob): Transition => aTransition(job, { kind: 'cancelled', startedAfterMs: 1 });
  const failed = (): Promise<Job> => ended((job) => aFailure(job));
  const dead = (): Promise<Job> => ended(dies);
  const cancelled = (): Promise<Job> => ended(isCancelled);
  const succeeded = (): Promise<Job> => ended((job) => aSuccess(job));
  const rowOf = async ({ id }: Job): Promise<JobView> => (await store.findJob(id))!;

  async function deathOf(job: Job): Promise<string> {
    await store.recordDeadLetters([{ jobId: job.id, attempt: job.attempt }]);
    const { items } = await store.listDeadLetters({ order: 'newest-first', limit: 1 });
    return items[0]!.id;
  }

  describe('cancel', () => {
    it.each([
      ['PENDING', pending],
      ['SCHEDULED', scheduled],
      ['FAILED', failed],
    ])('ends a job that is %s', async (state, make) => {
      const job = await make();
      expect(job.state).toBe(state);
      expect(await commands.cancel(job.id)).toMatchObject({ kind: 'cancelled', job: { state: 'CANCELLED' } });
    });

    it('asks a running job to end, and says so', async () => {
      const job = await running();
      const answer = await commands.cancel(job.id);
      expect(answer).toMatchObject({ kind: 'asked', job: { state: 'RUNNING', cancelRequestedAt: clock.now() } });
    });

    it('writes nothing when it was asked before', async () => {
      const job = await running();
      await commands.cancel(job.id);
      expect(await commands.cancel(job.id)).toMatchObject({ kind: 'asked' });
      expect(store.writes).toHaveLength(1);
    });

    it.each([
      ['CANCELLED', cancelled, 'cancelled'],
      ['SUCCEEDED', succeeded, 'finished'],
      ['DEAD', dead, 'finished'],
    ])('answers for a job that is %s without a write', async (state, make, kind) => {
      const job = await make();
      expect(await commands.cancel(job.id)).toMatchObject({ kind, job: { state } });
      expect(store.writes).toEqual([]);
    });

    it('knows no job that does not exist', async () => {
      expect(await commands.cancel(ids.random())).toEqual({ kind: 'unknown' });
    });
  });

  describe('cancel against others', () => {
    it('asks when a worker claimed the job between read and write', async () => {
      const job = await pending();
      store.beforeWrite.push(() => claimed(job));
      expect(await commands.cancel(job.id)).toMatchObject({ kind: 'asked', job: { state: 'RUNNING' } });
    });

    it('reports a job that succeeded between read and write as finished', async () => {
      const job = await running();
      store.beforeWrite.push(() => store.byOthers(aSuccess(job)));
      expect(await commands.cancel(job.id)).toMatchObject({ kind: 'finished', job: { state: 'SUCCEEDED' } });
    });

    it('ends a job that failed between read and write', async () => {
      const job = await running();
      store.beforeWrite.push(() => store.byOthers(aFailure(job)));
      expect(await commands.cancel(job.id)).toMatchObject({ kind: 'cancelled', job: { state: 'CANCELLED' } });
    });

    it.each([
      ['succeeded', (job: ClaimedJob) => aSuccess(job), 'finished', 'SUCCEEDED'],
      ['failed', (job: ClaimedJob) => aFailure(job), 'cancelled', 'CANCELLED'],
      ['snoozed', (job: ClaimedJob) => aSnooze(job), 'cancelled', 'CANCELLED'],
    ] as const)('says what the row says when the job %s right after the cancel', async (_how, end, kind, state) => {
      const job = await running();
      store.afterWrite.push(() => store.byOthers(end(job)));
      expect(await commands.cancel(job.id)).toMatchObject({ kind, job: { state } });
    });

    it('does not cancel again a job that somebody made start over right after the cancel', async () => {
      const job = await pending();
      store.afterWrite.push(async () => store.byOthers(aRetry((await store.findJobs([job.id]))[0]!)));
      expect(await commands.cancel(job.id)).toMatchObject({ kind: 'cancelled', job: { state: 'PENDING' } });
      expect(store.writes).toHaveLength(1);
    });

    it('gives up on a job that changes under every try, having changed nothing', async () => {
      const job = await running();
      store.beforeWrite.push(...Array.from({ length: 10 }, () => failsWith('transaction-conflict')));
      await expect(commands.cancel(job.id)).rejects.toMatchObject({ code: 'transaction-conflict' });
      expect([store.writes.length, (await rowOf(job)).cancelRequestedAt]).toEqual([10, null]);
    });

    it('never lies, whatever the interleaving: 500 pairs of cancel and settle', async () => {
      const random = SeededRandom.announced('cancel against settle');
      const kinds = new Set<string>();
      const allowed = {
        cancelled: ['CANCELLED'],
        finished: ['SUCCEEDED', 'DEAD'],
        asked: ['CANCELLED', 'SUCCEEDED'],
        unknown: [],
      };
      for (let pair = 0; pair < 500; pair += 1) {
        const job = await running();
        const end = random.pick([aSuccess, aFailure, dies, aSnooze, isCancelled])(job);
        const afterwards: Act[] = [];
        const moment = random.pick([store.beforeRead, store.beforeWrite, store.afterWrite, afterwards]);
        moment.push(() => store.byOthers(end));
        const answer = await commands.cancel(job.id);
        await afterwards.shift()?.();
        const { state } = await rowOf(job);
        kinds.add(answer.kind);
        expect(allowed[answer.kind]).toContain(state);
      }
      expect([...kinds].toSorted()).toEqual(['asked', 'cancelled', 'finished']);
    });
  });

  describe('cancel with a connection that breaks', () => {
    it('reads back a write whose reply was lost, and does not repeat it', async () => {
      const job = await pending();
      store.afterWrite.push(failsWith('unknown-outcome'));
      expect(await commands.cancel(job.id)).toMatchObject({ kind: 'cancelled', job: { state: 'CANCELLED' } });
      expect(store.writes).toHaveLength(1);
    });

    it('repeats a write that never arrived', async () => {
      const job = await running();
      store.beforeWrite.push(failsWith('unknown-outcome'));
      expect(await commands.cancel(job.id)).toMatchObject({ kind: 'asked' });
      expect(store.writes).toHaveLength(2);
    });

    it('is not confused by a write that arrives after the read back', async () => {
      const job = await pending();
      store.beforeWrite.push(failsWith('unknown-outcome'), () => store.byOthers(store.writes[0]!));
      expect(await commands.cancel(job.id)).toMatchObject({ kind: 'cancelled', job: { state: 'CANCELLED' } });
      expect((await rowOf(job)).version).toBe(job.version + 1);
    });

    it('says that it may have happened when the store is away for the read back', async () => {
      const job = await pending();
      store.afterWrite.push(failsWith('unknown-outcome'));
      store.beforeRead.push(async () => {}, failsWith('store-unavailable'));
      await expect(commands.cancel(job.id)).rejects.toMatchObject({ code: 'unknown-outcome' });
    });

    it('says that it may have happened when the row cannot be read after the write', async () => {
      const job = await pending();
      store.beforeRead.push(async () => {}, failsWith('statement-timeout'));
      await expect(commands.cancel(job.id)).rejects.toMatchObject({ code: 'unknown-outcome' });
      expect(await commands.cancel(job.id)).toMatchObject({ kind: 'cancelled' });
    });

    it.each<ErrorCode>(['store-unavailable', 'statement-timeout'])(
      'throws "%s" as it is when nothing was changed',
      async (code) => {
        const job = await pending();
        store.beforeWrite.push(failsWith(code));
        await expect(commands.cancel(job.id)).rejects.toMatchObject({ code });
        expect((await rowOf(job)).state).toBe('PENDING');
      },
    );
  });

  describe('retry', () => {
    it('makes a dead job start over with all its budgets, and keeps its attempt number', async () => {
      const job = await dead();
      const answer = await commands.retry(job.id);
      const fresh = { failures: 0, lapses: 0, lapsesInRow: 0, crashes: 0, snoozes: 0, finishedAt: null };
      expect(answer).toMatchObject({ kind: 'ready', job: { state: 'PENDING', attempt: job.attempt, ...fresh } });
    });

    it('makes a cancelled job start over and forgets the cancel', async () => {
      const { id } = await pending();
      await commands.cancel(id);
      expect(await commands.retry(id)).toMatchObject({
        kind: 'ready',
        job: { state: 'PENDING', cancelRequestedAt: null },
      });
    });

    it.each([
      ['FAILED', failed],
      ['SCHEDULED', scheduled],
    ])('makes a job that is %s run now, and keeps its counters', async (state, make) => {
      const job = await make();
      expect(job.state).toBe(state);
      const { failures } = job;
      const ready = { state: 'PENDING', failures, scheduledFor: clock.now() };
      expect(await commands.retry(job.id)).toMatchObject({ kind: 'ready', job: ready });
    });

    it.each([
      ['PENDING', pending],
      ['RUNNING', running],
      ['SUCCEEDED', succeeded],
    ])('refuses for a job that is %s, without a write', async (state, make) => {
      const job = await make();
      expect(await commands.retry(job.id)).toMatchObject({ kind: 'not-retryable', job: { state } });
      expect(store.writes).toEqual([]);
    });

    it('knows no job that does not exist', async () => {
      expect(await commands.retry(ids.random())).toEqual({ kind: 'unknown' });
    });

    it('sends the ticket right after the write', async () => {
      const job = await dead();
      const sink = new RecordingSink();
      await transport.consumeReady([job.queue], sink);
      await commands.retry(job.id);
      await settle();
      expect(sink.received).toEqual([job.id]);
      expect(events.of('outbox-sent')).toEqual([{ kind: 'outbox-sent', by: 'writer', count: 1, failed: 0 }]);
    });

    it('lets only one of two that come together through', async () => {
      const job = await dead();
      const answers = await Promise.all([commands.retry(job.id), commands.retry(job.id)]);
      expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['not-retryable', 'ready']);
    });

    it('reads back a write whose reply was lost', async () => {
      const job = await dead();
      store.afterWrite.push(failsWith('unknown-outcome'));
      expect(await commands.retry(job.id)).toMatchObject({ kind: 'ready', job: { state: 'PENDING' } });
      expect(store.writes).toHaveLength(1);
    });

    it('repeats a write that never arrived', async () => {
      const job = await dead();
      store.beforeWrite.push(failsWith('unknown-outcome'));
      expect(await commands.retry(job.id)).toMatchObject({ kind: 'ready', job: { state: 'PENDING' } });
      expect(store.writes).toHaveLength(2);
    });

    it('does not start over twice a job that ran and died again before the read back', async () => {
      const job = await dead();
      store.afterWrite.push(async () => {
        const [row] = await store.findJobs([job.id]);
        await store.byOthers(dies(await claimed(row!)));
        throw new DeadmanError('unknown-outcome');
      });
      expect(await commands.retry(job.id)).toMatchObject({ kind: 'ready', job: { state: 'DEAD', attempt: 2 } });
      expect(store.writes).toHaveLength(1);
    });

    it.each([
      ['was dead', dead],
      ['was cancelled', cancelled],
      ['waits for its next attempt', failed],
    ])(
      'does not undo a cancel that comes after a write whose reply was lost, for a job that %s',
      async (_state, make) => {
        const job = await make();
        store.afterWrite.push(async () => {
          await commands.cancel(job.id);
          throw new DeadmanError('unknown-outcome');
        });
        expect(await commands.retry(job.id)).toMatchObject({ kind: 'ready', job: { state: 'CANCELLED' } });
        expect((await store.findJob(job.id))?.state).toBe('CANCELLED');
      },
    );

    it('repeats a write that never arrived for a job that was cancelled before', async () => {
      const job = await cancelled();
      store.beforeWrite.push(failsWith('unknown-outcome'));
      expect(await commands.retry(job.id)).toMatchObject({ kind: 'ready', job: { state: 'PENDING' } });
    });

    it('answers ready for a write of unknown outcome that arrives between read back and repeat', async () => {
      const job = await dead();
      store.beforeWrite.push(failsWith('unknown-outcome'), () => store.byOthers(store.writes[0]!));
      expect(await commands.retry(job.id)).toMatchObject({ kind: 'ready', job: { state: 'PENDING' } });
    });
  });

  describe('redrive', () => {
    it('makes the job of a letter start over', async () => {
      const job = await dead();
      const letterId = await deathOf(job);
      expect(await commands.redrive(letterId)).toMatchObject({ kind: 'ready', job: { id: job.id, state: 'PENDING' } });
    });

    it('knows no letter that does not exist', async () => {
      expect(await commands.redrive(ids.random())).toEqual({ kind: 'unknown' });
    });

    it('refuses a letter whose job was made to start over, without a write', async () => {
      const letterId = await deathOf(await dead());
      await commands.redrive(letterId);
      expect(await commands.redrive(letterId)).toMatchObject({ kind: 'superseded', letter: { id: letterId } });
      expect(store.writes).toHaveLength(1);
    });

    it('refuses the letter of an earlier death of a job that is dead again', async () => {
      const job = await dead();
      const letterId = await deathOf(job);
      await store.byOthers(aRetry(job));
      await store.byOthers(dies(await claimed(job)));
      expect(await commands.redrive(letterId)).toMatchObject({ kind: 'superseded' });
      expect((await rowOf(job)).state).toBe('DEAD');
    });

    it('refuses a letter that was recorded too late', async () => {
      const job = await dead();
      await store.byOthers(aRetry(job));
      const letterId = await deathOf(job);
      expect(await commands.redrive(letterId)).toMatchObject({ kind: 'superseded', letter: { superseded: true } });
    });

    it('loses against a retry between read and write, and then says superseded', async () => {
      const job = await dead();
      const letterId = await deathOf(job);
      store.beforeWrite.push(() => store.byOthers(aRetry(job)));
      expect(await commands.redrive(letterId)).toMatchObject({ kind: 'superseded' });
    });

    it('reads back a write whose reply was lost as its own success', async () => {
      const job = await dead();
      const letterId = await deathOf(job);
      store.afterWrite.push(failsWith('unknown-outcome'));
      expect(await commands.redrive(letterId)).toMatchObject({ kind: 'ready', job: { state: 'PENDING' } });
      expect(store.writes).toHaveLength(1);
    });
  });
});
