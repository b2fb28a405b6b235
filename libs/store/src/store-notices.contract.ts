import type { StoreNotice } from '@deadman/domain';
import { aCancel, aSubmissionDueIn, eventually } from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { applyOne, runningJob } from './contract/store-under-test.contract.js';
import type { OpenStore, StoreUnderTest } from './contract/store-under-test.contract.js';

/** What every `StoreNotices` promises. */
export function storeNoticesContract(name: string, open: OpenStore): void {
  describe(`${name} as StoreNotices`, () => {
    let under: StoreUnderTest;

    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.close());

    it('tells every listener of both kinds', async () => {
      const { store, notices } = under;
      const heard: StoreNotice[][] = [[], []];
      const subscriptions = await Promise.all(heard.map((list) => notices.subscribe((notice) => list.push(notice))));
      const job = await runningJob(store);
      await applyOne(store, aCancel(job));
      await store.submit([aSubmissionDueIn(100)]);
      const claims = [{ jobId: job.id, token: job.claim.token }];
      for (const list of heard) {
        await eventually(() => expect(list).toEqual([{ kind: 'cancel', claims }, { kind: 'due' }]));
      }
      await Promise.all(subscriptions.map((subscription) => subscription.unsubscribe()));
    });

    it('tells nothing to whoever has left', async () => {
      const { store, notices } = under;
      const [left, stayed]: StoreNotice[][] = [[], []];
      const leaving = await notices.subscribe((notice) => left!.push(notice));
      const staying = await notices.subscribe((notice) => stayed!.push(notice));
      await leaving.unsubscribe();
      await leaving.unsubscribe();
      await store.submit([aSubmissionDueIn(100)]);
      await eventually(() => expect(stayed).toEqual([{ kind: 'due' }]));
      expect(left).toEqual([]);
      await staying.unsubscribe();
    });
  });
}
