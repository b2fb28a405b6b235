import { randomUUID } from 'node:crypto';
import type { BeatReply, WorkerRecord } from '@deadman/domain';
import { aCancel, aSuccess } from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lapseInRow } from './contract/claim.contract.js';
import { applyOne, claimOne, QUARANTINE_FROM, submitOne } from './contract/store-under-test.contract.js';
import type { OpenStore, StoreUnderTest } from './contract/store-under-test.contract.js';

/** What every `WorkerRegistry` promises. */
export function workerRegistryContract(name: string, open: OpenStore): void {
  describe(`${name} as a WorkerRegistry`, () => {
    let under: StoreUnderTest;

    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.close());

    const aWorker = (overrides: Partial<WorkerRecord> = {}): WorkerRecord => ({
      incarnation: randomUUID(),
      name: 'worker-1',
      types: ['demo.echo'],
      queues: ['default'],
      slots: 4,
      ...overrides,
    });
    const beat = (worker: WorkerRecord): Promise<BeatReply> =>
      under.workers.beat({ worker, quarantineFrom: QUARANTINE_FROM, quarantineWaitMs: 60_000 });

    it('tells a worker what it is believed to run, by token, and nothing of others', async () => {
      const { store } = under;
      const worker = aWorker();
      const running = await claimOne(store, (await submitOne(store)).id, { workerId: worker.incarnation });
      const asked = await claimOne(store, (await submitOne(store)).id, { workerId: worker.incarnation });
      const ended = await claimOne(store, (await submitOne(store)).id, { workerId: worker.incarnation });
      await claimOne(store, (await submitOne(store)).id);
      await applyOne(store, aCancel(asked));
      await applyOne(store, aSuccess(ended));
      const { beliefs, isQuarantineWaiting } = await beat(worker);
      const told = beliefs.toSorted((a, b) => (a.jobId < b.jobId ? -1 : 1));
      const expected = [running, asked].map(({ id, attempt, claim }) => ({
        jobId: id,
        attempt,
        token: claim.token,
        cancelRequested: id === asked.id,
      }));
      expect(told).toEqual(expected.toSorted((a, b) => (a.jobId < b.jobId ? -1 : 1)));
      expect(isQuarantineWaiting).toBe(false);
    });

    it('tells when a job that the worker could run has waited in quarantine', async () => {
      const { elapse } = under;
      await lapseInRow(under, QUARANTINE_FROM);
      expect((await beat(aWorker())).isQuarantineWaiting).toBe(false);
      await elapse(120_000);
      expect((await beat(aWorker())).isQuarantineWaiting).toBe(true);
      expect((await beat(aWorker({ types: ['other'] }))).isQuarantineWaiting).toBe(false);
      expect((await beat(aWorker({ queues: ['bulk'] }))).isQuarantineWaiting).toBe(false);
    });

    it('says nothing of quarantine for a job that only waits', async () => {
      await submitOne(under.store);
      await lapseInRow(under, QUARANTINE_FROM - 1);
      await under.elapse(3_600_000);
      expect((await beat(aWorker())).isQuarantineWaiting).toBe(false);
    });

    it('knows the types of workers that were seen lately', async () => {
      const { workers, elapse } = under;
      await beat(aWorker({ types: ['old', 'shared'] }));
      await elapse(60_000);
      const living = aWorker({ types: ['new', 'shared'] });
      await beat(living);
      expect([...(await workers.liveTypes(30_000))].toSorted()).toEqual(['new', 'shared']);
      expect([...(await workers.liveTypes(3_600_000))].toSorted()).toEqual(['new', 'old', 'shared']);
    });

    it('replaces what a worker said before, and forgets it when it retires', async () => {
      const { workers } = under;
      const worker = aWorker({ types: ['a'] });
      await beat(worker);
      await beat({ ...worker, types: ['b'], queues: ['bulk'], slots: 8 });
      expect([...(await workers.liveTypes(60_000))]).toEqual(['b']);
      await workers.retire(worker.incarnation);
      await workers.retire(worker.incarnation);
      expect([...(await workers.liveTypes(60_000))]).toEqual([]);
    });
  });
}
