import { DeadmanError } from '@deadman/domain';
import type { ErrorCode, JobStore, Submission, SubmitReceipt, Transport } from '@deadman/domain';
import { MemoryDatabase, MemoryJobStore } from '@deadman/store';
import { aSubmission, deferred, FakeClock, RecordingEvents, settle } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Publisher } from './publisher.js';
import { Submitter } from './submitter.js';
import type { SubmitOptions } from './submitter.js';

/** Goes wrong before or after the batch was stored; null lets it through. */
type Fault = { readonly code: ErrorCode; readonly isStored: boolean } | null;

const LOST_REPLY: Fault = { code: 'unknown-outcome', isStored: true };
const LOST_REQUEST: Fault = { code: 'unknown-outcome', isStored: false };
const AWAY: Fault = { code: 'store-unavailable', isStored: false };
const CONFLICT: Fault = { code: 'transaction-conflict', isStored: false };

describe('Submitter', () => {
  let clock: FakeClock;
  let events: RecordingEvents;
  let db: MemoryDatabase;
  let memory: MemoryJobStore;
  let batches: (readonly Submission[])[];
  let faults: Fault[];
  let sent: string[];
  let gate: Promise<void>;

  beforeEach(() => {
    clock = new FakeClock();
    events = new RecordingEvents();
    db = new MemoryDatabase(clock);
    memory = new MemoryJobStore(db);
    batches = [];
    faults = [];
    sent = [];
    gate = Promise.resolve();
  });

  function submitterOf(options: Partial<SubmitOptions> = {}): Submitter {
    const store = {
      submit: async (batch: readonly Submission[]): Promise<SubmitReceipt> => {
        batches.push(batch);
        const fault = faults.shift() ?? null;
        const receipt = fault === null || fault.isStored ? await memory.submit(batch) : null;
        if (fault !== null) throw new DeadmanError(fault.code);
        return receipt!;
      },
      deleteOutbox: (ids: readonly string[]) => memory.deleteOutbox(ids),
    } as unknown as JobStore;
    const transport = {
      publish: async (entries: readonly { readonly id: string; readonly jobIds: readonly string[] }[]) => {
        await gate;
        sent.push(...entries.flatMap(({ jobIds }) => jobIds));
        return entries.map(({ id }) => id);
      },
    } as unknown as Transport;
    const publisher = new Publisher({ transport, store, clock, events });
    return new Submitter({ store, publisher, clock, events }, options);
  }

  const refused = (text: string): Submission => aSubmission({ payload: JSON.stringify(text) + '\0' });

  it('answers each submit with its own job, and stores what came together in one transaction', async () => {
    const submitter = submitterOf();
    const submissions = Array.from({ length: 20 }, () => aSubmission());
    const answers = await Promise.all(submissions.map((one) => submitter.submit(one)));
    expect(answers.map(({ kind, job }) => [kind, job.id])).toEqual(submissions.map(({ job }) => ['created', job.id]));
    expect(batches.map(({ length }) => length)).toEqual([20]);
    expect(events.of('jobs-submitted')).toEqual([{ kind: 'jobs-submitted', created: 20, replayed: 0 }]);
  });

  it('answers before it publishes, and deletes the outbox row only after the transport acknowledged', async () => {
    const open = deferred();
    gate = open.promise;
    const { job } = (await submitterOf().submit(aSubmission())) as { job: { id: string } };
    expect(sent).toEqual([]);
    expect(db.outbox.size).toBe(1);
    open.resolve();
    await settle();
    expect(sent).toEqual([job.id]);
    await clock.advance(50);
    expect(db.outbox.size).toBe(0);
  });

  it('answers a key that is taken with the job that has it, and counts it as replayed', async () => {
    const submitter = submitterOf();
    const first = await submitter.submit(aSubmission({ idempotencyKey: 'k' }));
    const second = await submitter.submit(aSubmission({ idempotencyKey: 'k' }));
    expect(second).toMatchObject({ kind: 'replayed', job: { id: first.job.id } });
    expect(events.of('jobs-submitted').at(-1)).toEqual({ kind: 'jobs-submitted', created: 0, replayed: 1 });
  });

  it('tells only the culprit of a value that the database refuses, and stores all the others once', async () => {
    const submitter = submitterOf();
    const good = Array.from({ length: 9 }, () => aSubmission());
    const all = [...good.slice(0, 4), refused('bad'), ...good.slice(4)];
    const outcomes = await Promise.allSettled(all.map((one) => submitter.submit(one)));
    expect(outcomes.map(({ status }) => status)).toEqual(
      all.map((one) => (good.includes(one) ? 'fulfilled' : 'rejected')),
    );
    expect(outcomes[4]).toMatchObject({ reason: { code: 'data-rejected' } });
    expect([...db.jobs.keys()].toSorted()).toEqual(good.map(({ job }) => job.id).toSorted());
    expect(events.of('submit-rejected')).toEqual([{ kind: 'submit-rejected', because: 'data', count: 1 }]);
  });

  it('never tells a caller that nothing was stored when its half of a refused batch was', async () => {
    const submitter = submitterOf();
    const left = [aSubmission(), aSubmission()];
    const right = [aSubmission(), refused('bad')];
    // The whole, the left half, the right half: the store goes away when half of the batch is in.
    faults = [null, null, AWAY];
    const outcomes = await Promise.allSettled([...left, ...right].map((one) => submitter.submit(one)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    expect(db.jobs.size).toBe(2);
  });

  it('repeats a submit of unknown outcome, stores it once, and answers created', async () => {
    for (const fault of [LOST_REPLY, LOST_REQUEST]) {
      faults = [fault];
      const answer = submitterOf().submit(aSubmission({ idempotencyKey: `key of ${fault.isStored}` }));
      await clock.advance(1_000);
      await expect(answer).resolves.toMatchObject({ kind: 'created' });
    }
    expect(batches).toHaveLength(4);
    expect(db.jobs.size).toBe(2);
  });

  it('goes on asking after an unknown outcome although the store is away meanwhile', async () => {
    faults = [LOST_REPLY, AWAY];
    const answer = submitterOf().submit(aSubmission());
    await clock.advance(1_000);
    await expect(answer).resolves.toMatchObject({ kind: 'created' });
    expect(db.jobs.size).toBe(1);
  });

  it('says that a job may be stored when it may be, whatever the last error was', async () => {
    faults = [LOST_REPLY, AWAY, AWAY, AWAY];
    const outcome = submitterOf({ tries: 4 })
      .submit(aSubmission())
      .catch((error: unknown) => error);
    await clock.advance(10_000);
    await expect(outcome).resolves.toMatchObject({ code: 'unknown-outcome', cause: { code: 'store-unavailable' } });
    expect(batches).toHaveLength(4);
  });

  it('repeats a transaction that met another one', async () => {
    faults = [CONFLICT, CONFLICT];
    const answer = submitterOf().submit(aSubmission());
    await clock.advance(1_000);
    await expect(answer).resolves.toMatchObject({ kind: 'created' });
    expect(batches).toHaveLength(3);
  });

  it('gives up on a conflict that has no end', async () => {
    faults = [CONFLICT, CONFLICT, CONFLICT, CONFLICT, CONFLICT];
    const outcome = submitterOf({ tries: 3 })
      .submit(aSubmission())
      .catch((error: unknown) => error);
    await clock.advance(10_000);
    await expect(outcome).resolves.toMatchObject({ code: 'transaction-conflict' });
    expect(batches).toHaveLength(3);
  });

  it('tells at once of a store that is away: nothing was stored', async () => {
    faults = [AWAY];
    await expect(submitterOf().submit(aSubmission())).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(db.jobs.size).toBe(0);
  });

  it('refuses as overloaded what it could not answer in time', async () => {
    const submitter = submitterOf({ maxWaiting: 3, concurrency: 1 });
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => submitter.submit(aSubmission())));
    const codes = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as DeadmanError).code : 'ok',
    );
    expect(codes).toEqual(['ok', 'ok', 'ok', 'overloaded', 'overloaded']);
    const told = { kind: 'submit-rejected', because: 'overloaded', count: 1 };
    expect(events.of('submit-rejected')).toEqual([told, told]);
  });

  it('sends the largest payloads in smaller batches', async () => {
    const submitter = submitterOf();
    const payload = JSON.stringify('x'.repeat(256 * 1_024 - 2));
    await Promise.all(Array.from({ length: 40 }, () => submitter.submit(aSubmission({ payload }))));
    expect(Math.max(...batches.map(({ length }) => length))).toBe(16);
  });

  describe('submitAtomic', () => {
    it('stores all of a batch or none', async () => {
      const submitter = submitterOf();
      const outcome = submitter.submitAtomic([aSubmission(), refused('bad')]);
      await expect(outcome).rejects.toMatchObject({ code: 'data-rejected' });
      expect(db.jobs.size).toBe(0);
      await submitter.submitAtomic([aSubmission(), aSubmission()]);
      expect(db.jobs.size).toBe(2);
    });

    it('is bounded by the jobs that are under way', async () => {
      const submitter = submitterOf({ maxWaiting: 3 });
      const first = submitter.submitAtomic([aSubmission(), aSubmission()]);
      await expect(submitter.submitAtomic([aSubmission(), aSubmission()])).rejects.toMatchObject({
        code: 'overloaded',
      });
      expect(events.of('submit-rejected')).toEqual([{ kind: 'submit-rejected', because: 'overloaded', count: 2 }]);
      await first;
      await expect(submitter.submitAtomic([aSubmission(), aSubmission()])).resolves.toHaveLength(2);
    });

    it('is bounded by the payloads that are under way', async () => {
      const submitter = submitterOf({ maxWaitingWeight: 1_000 });
      const large = (): Submission => aSubmission({ payload: JSON.stringify('x'.repeat(400)) });
      const first = submitter.submitAtomic([large(), large()]);
      await expect(submitter.submitAtomic([large()])).rejects.toMatchObject({ code: 'overloaded' });
      await first;
      await expect(submitter.submitAtomic([large(), large()])).resolves.toHaveLength(2);
    });
  });

  describe('close', () => {
    it('waits for what was taken and for what it has to send, and takes nothing more', async () => {
      const open = deferred();
      gate = open.promise;
      const submitter = submitterOf();
      const answers = Promise.all([submitter.submit(aSubmission()), submitter.submitAtomic([aSubmission()])]);
      let isClosed = false;
      const closing = submitter.close().then(() => (isClosed = true));
      await answers;
      await settle();
      expect(isClosed).toBe(false);
      await expect(submitter.submit(aSubmission())).rejects.toMatchObject({ code: 'shutting-down' });
      await expect(submitter.submitAtomic([aSubmission()])).rejects.toMatchObject({ code: 'shutting-down' });
      open.resolve();
      await closing;
      expect(sent).toHaveLength(2);
    });

    it('waits for the sending of an atomic batch that is still being stored', async () => {
      const submitter = submitterOf();
      const answer = submitter.submitAtomic([aSubmission()]);
      await submitter.close();
      expect(sent).toHaveLength(1);
      await answer;
    });
  });
});
