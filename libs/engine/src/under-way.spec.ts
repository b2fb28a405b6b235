import { deferred, settle } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { UnderWay } from './under-way.js';

describe('UnderWay', () => {
  it('is settled at once when nothing is under way', async () => {
    await expect(new UnderWay().settled()).resolves.toBeUndefined();
  });

  it('waits for work that began while it was waiting, and for work that fails', async () => {
    const underWay = new UnderWay();
    const first = deferred();
    const second = deferred();
    void underWay.track(first.promise.then(() => void underWay.track(second.promise).catch(() => undefined)));
    let isSettled = false;
    const settled = underWay.settled().then(() => (isSettled = true));
    first.resolve();
    await settle();
    expect(isSettled).toBe(false);
    second.reject(new Error('no'));
    await settled;
    expect(isSettled).toBe(true);
  });
});
