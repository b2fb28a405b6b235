import { isDeadmanError } from '@deadman/domain';
import type { ClaimedJob, ClaimRef, EffectReceipt, OpenTransaction } from '@deadman/domain';
import { aCancel, aLapse, aSubmission, aSubmissionDueIn, aSuccess, deferred } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { applyOne, claimOne, failureOf, jobNow, outboxRows, runningJob, told } from './store-under-test.contract.js';
import type { StoreUnderTest } from './store-under-test.contract.js';

type Change = (transaction: OpenTransaction) => Promise<string>;

const claimOf = ({ id, attempt, claim }: ClaimedJob): ClaimRef => ({ jobId: id, attempt, token: claim.token });

export function effectsContract(given: () => StoreUnderTest): void {
  const commit = (job: ClaimedJob, change: Change, key = 'charge'): Promise<EffectReceipt> =>
    given().effects.commitEffect({ ...claimOf(job), key }, change);

  /** A change that leaves a line in a ledger which would take it twice. */
  const firing =
    (what: string, value = '1'): Change =>
    async (transaction) => {
      await given().fire(transaction, what);
      return value;
    };

  /** Another worker's claim of the same job, after a reaper took it away. */
  async function takeOver(job: ClaimedJob): Promise<ClaimedJob> {
    const { store } = given();
    await applyOne(store, aLapse(job));
    return claimOne(store, job.id, { types: [job.type] });
  }

  describe('an effect', () => {
    it('commits with its change, and tells its value from then on', async () => {
      const { store, effects, fired } = given();
      const job = await runningJob(store);
      expect(await effects.findEffect(job.id, 'charge')).toBeNull();
      const value = '{"n":12345678901234567890,"text":"a\\u0000 😀"}';
      expect(await commit(job, firing('a', value))).toEqual({ kind: 'committed', outbox: [] });
      expect(await effects.findEffect(job.id, 'charge')).toEqual({ value });
      expect(await fired()).toEqual(['a']);
    });

    it('is seen by nobody before it commits', async () => {
      const { store, effects, fired } = given();
      const job = await runningJob(store);
      const [isInside, mayGoOn] = [deferred(), deferred()];
      const committing = commit(job, async (transaction) => {
        await given().fire(transaction, 'a');
        isInside.resolve();
        await mayGoOn.promise;
        return '1';
      });
      await isInside.promise;
      expect([await effects.findEffect(job.id, 'charge'), await fired()]).toEqual([null, []]);
      mayGoOn.resolve();
      await committing;
      expect(await fired()).toEqual(['a']);
    });

    it('that exists already undoes the change that was made again', async () => {
      const { store, effects, fired } = given();
      const job = await runningJob(store);
      await commit(job, firing('first', '"first"'));
      const again = await takeOver(job);
      expect(await commit(again, firing('second', '"second"'))).toEqual({ kind: 'exists' });
      expect(await effects.findEffect(job.id, 'charge')).toEqual({ value: '"first"' });
      expect(await fired()).toEqual(['first']);
    });

    it('belongs to its key and to its job', async () => {
      const { store, fired } = given();
      const [one, other] = [await runningJob(store), await runningJob(store)];
      await commit(one, firing('one'));
      expect(await commit(other, firing('other'))).toMatchObject({ kind: 'committed' });
      expect(await commit(one, firing('one more'), '__proto__')).toMatchObject({ kind: 'committed' });
      expect(await fired()).toEqual(['one', 'other', 'one more']);
    });

    it('does not commit when its change throws, and throws the same', async () => {
      const { store, effects, fired } = given();
      const job = await runningJob(store);
      const thrown = new Error('no');
      const change: Change = async (transaction) => {
        await given().fire(transaction, 'a');
        throw thrown;
      };
      expect(await failureOf(commit(job, change))).toBe(thrown);
      expect([await effects.findEffect(job.id, 'charge'), await fired()]).toEqual([null, []]);
      expect(await commit(job, firing('b'))).toMatchObject({ kind: 'committed' });
    });

    it.each([
      ['taken away', async (job: ClaimedJob) => void (await applyOne(given().store, aLapse(job)))],
      ['taken away and claimed again', async (job: ClaimedJob) => void (await takeOver(job))],
      ['settled', async (job: ClaimedJob) => void (await applyOne(given().store, aSuccess(job)))],
    ])('does not commit for a job that was %s while its change was made', async (_what, meanwhile) => {
      const { store, effects, fired } = given();
      const job = await runningJob(store);
      const receipt = await commit(job, async (transaction) => {
        await given().fire(transaction, 'a');
        await meanwhile(job);
        return '1';
      });
      expect(receipt).toEqual({ kind: 'fenced' });
      expect([await effects.findEffect(job.id, 'charge'), await fired()]).toEqual([null, []]);
    });

    it('does not commit under the right attempt with another token', async () => {
      const { store, effects, fired } = given();
      const job = await runningJob(store);
      const forged = { ...claimOf(job), token: '00000000-0000-4000-8000-000000000000', key: 'charge' };
      expect(await effects.commitEffect(forged, firing('a'))).toEqual({ kind: 'fenced' });
      expect(await fired()).toEqual([]);
    });

    it('commits for a job whose cancel was asked for meanwhile', async () => {
      const { store } = given();
      const job = await runningJob(store);
      await applyOne(store, aCancel(job));
      expect(await commit(job, firing('a'))).toMatchObject({ kind: 'committed' });
    });

    it('commits once of two changes at the same time', async () => {
      const { store, fired } = given();
      const job = await runningJob(store);
      const inside = [deferred(), deferred()];
      const receipts = await Promise.all(
        inside.map(({ resolve }, place) =>
          commit(job, async (transaction) => {
            resolve();
            await Promise.all(inside.map(({ promise }) => promise));
            await given().fire(transaction, `change ${place}`);
            return String(place);
          }),
        ),
      );
      expect(receipts.map(({ kind }) => kind).toSorted()).toEqual(['committed', 'exists']);
      expect(await fired()).toHaveLength(1);
    });

    it('gives nothing of its transaction away beyond its end', async () => {
      const { store } = given();
      let kept: OpenTransaction | undefined;
      await commit(await runningJob(store), async (transaction) => {
        kept = transaction;
        return '1';
      });
      await expect(kept!.query('SELECT 1')).rejects.toThrow('The transaction is over');
      await expect(kept!.submit([aSubmission()])).rejects.toThrow('The transaction is over');
    });

    it.each(['a\0b', '\ud800'])('refuses a key or a value that cannot be stored (%j)', async (text) => {
      const { store, fired } = given();
      const job = await runningJob(store);
      expect(await failureOf(commit(job, firing('a', `"${text}"`)))).toBe('data-rejected');
      expect(await failureOf(commit(job, firing('a'), text))).toBe('data-rejected');
      expect(await fired()).toEqual([]);
    });

    it('is what a succeed looks for', async () => {
      const { store } = given();
      const job = await runningJob(store);
      await commit(job, firing('a'));
      expect(await applyOne(store, aSuccess(job, '1', ['charge', 'lost']))).toMatchObject({ by: 'effects-missing' });
      const again = await claimOne(store, job.id, { types: [job.type] });
      expect(await applyOne(store, aSuccess(again, '1', ['charge']))).toMatchObject({ state: 'SUCCEEDED' });
    });
  });

  describe('jobs that are handed in inside an effect', () => {
    it('exist exactly when it commits, and are told of then', async () => {
      const { store } = given();
      const job = await runningJob(store);
      const [now, later] = [aSubmission({ queue: 'bulk', tags: ['a'] }), aSubmissionDueIn(60_000)];
      const before = (await outboxRows(store)).length;
      const receipt = await commit(job, async (transaction) => {
        await transaction.submit([now, later]);
        expect(await store.findJob(now.job.id)).toBeNull();
        return '1';
      });
      const ticket = { id: '', kind: 'ready' as const, queue: 'bulk', jobIds: [now.job.id] };
      expect(receipt.kind === 'committed' && told(receipt.outbox)).toEqual(told([ticket]));
      expect(await outboxRows(store)).toHaveLength(before + 1);
      expect(await jobNow(store, now.job.id)).toMatchObject({ ...now.job, state: 'PENDING', version: 1 });
      expect(await jobNow(store, later.job.id)).toMatchObject({ state: 'SCHEDULED' });
    });

    it('are gone with a change that fails, that is fenced, or that was made before', async () => {
      const { store } = given();
      const job = await runningJob(store);
      const submitting: Change = async (transaction) => {
        await transaction.submit([aSubmission()]);
        return '1';
      };
      const failing = commit(job, async (transaction) => {
        await submitting(transaction);
        throw new Error('no');
      });
      await failureOf(failing);
      await commit(job, firing('a'));
      expect(await commit(job, submitting)).toEqual({ kind: 'exists' });
      await applyOne(store, aSuccess(job));
      expect(await commit(job, submitting, 'other')).toEqual({ kind: 'fenced' });
      expect(await store.countJobs({}, 10)).toBe(1);
    });

    it('have no idempotency key, since the effect is one', async () => {
      const { store } = given();
      const submitting = commit(await runningJob(store), async (transaction) => {
        await transaction.submit([aSubmission({ idempotencyKey: 'k' })]);
        return '1';
      });
      expect(await failureOf(submitting)).toBeInstanceOf(TypeError);
    });

    it('that cannot be stored are refused', async () => {
      const { store } = given();
      const error = await commit(await runningJob(store), async (transaction) => {
        await transaction.submit([aSubmission({ payload: '\0' })]);
        return '1';
      }).catch((caught: unknown) => caught);
      expect(isDeadmanError(error, 'data-rejected')).toBe(true);
    });
  });

  describe('a step', () => {
    const stepOf = (job: ClaimedJob, name = 'mail'): ClaimRef & { name: string } => ({ ...claimOf(job), name });

    it('is begun, done, and then known to every later attempt', async () => {
      const { store, effects } = given();
      const job = await runningJob(store);
      expect(await effects.beginStep(stepOf(job))).toEqual({ kind: 'begun', before: null });
      expect(await effects.finishStep(stepOf(job), '{"id":7}')).toBe('stored');
      const again = await takeOver(job);
      expect(await effects.beginStep(stepOf(again))).toEqual({ kind: 'done', value: '{"id":7}' });
      expect(await effects.beginStep(stepOf(again, 'other'))).toEqual({ kind: 'begun', before: null });
    });

    it('that an attempt began and left is told of with the attempt that began it first, however often it is asked', async () => {
      const { store, effects } = given();
      const first = await runningJob(store);
      await effects.beginStep(stepOf(first));
      const second = await takeOver(first);
      expect(await effects.beginStep(stepOf(second))).toEqual({ kind: 'begun', before: 1 });
      const third = await takeOver(second);
      expect(await effects.beginStep(stepOf(third))).toEqual({ kind: 'begun', before: 1 });
      expect(await effects.beginStep(stepOf(third))).toEqual({ kind: 'begun', before: 1 });
    });

    it('may be kept again, as after a lost reply', async () => {
      const { store, effects } = given();
      const job = await runningJob(store);
      await effects.beginStep(stepOf(job));
      await effects.finishStep(stepOf(job), '1');
      expect(await effects.finishStep(stepOf(job), '1')).toBe('stored');
      expect(await effects.beginStep(stepOf(job))).toEqual({ kind: 'done', value: '1' });
    });

    it('is neither begun nor kept for a job that was taken away', async () => {
      const { store, effects } = given();
      const job = await runningJob(store);
      await effects.beginStep(stepOf(job));
      const again = await takeOver(job);
      expect(await effects.beginStep(stepOf(job))).toEqual({ kind: 'fenced' });
      expect(await effects.finishStep(stepOf(job), '"late"')).toBe('fenced');
      expect(await effects.beginStep(stepOf(again))).toEqual({ kind: 'begun', before: 1 });
    });

    it('cannot have a name or a value that cannot be stored', async () => {
      const { store, effects } = given();
      const job = await runningJob(store);
      expect(await failureOf(effects.beginStep(stepOf(job, 'a\0b')))).toBe('data-rejected');
      expect(await failureOf(effects.finishStep(stepOf(job), '"\ud800"'))).toBe('data-rejected');
    });
  });

  it('what effects and steps left goes with its job', async () => {
    const { store, effects, elapse } = given();
    const job = await runningJob(store);
    await commit(job, firing('a'));
    await effects.finishStep({ ...claimOf(job), name: 'mail' }, '1');
    await applyOne(store, aSuccess(job, '1', ['charge']));
    await elapse(1_000);
    const kept = { finishedKeptMs: 500, deadKeptMs: 500, keyKeptMs: 500, workerKeptMs: 500 };
    expect((await store.purge({ ...kept, limit: 10 })).jobs).toBe(1);
    expect(await effects.findEffect(job.id, 'charge')).toBeNull();
  });
}
