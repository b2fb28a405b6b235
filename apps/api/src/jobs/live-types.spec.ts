import { afterEach, describe, expect, it } from '@jest/globals';
import { DeadmanError, WorkerRegistry } from '@deadman/domain';
import type { BeatReply } from '@deadman/domain';
import { FakeClock } from '@deadman/testing';
import { startApi } from '../testing/api-under-test.contract.js';
import type { ApiUnderTest } from '../testing/api-under-test.contract.js';
import { memoryParts } from '../testing/memory-parts.contract.js';
import { LiveTypes } from './live-types.js';

class StubRegistry extends WorkerRegistry {
  looks = 0;
  types: readonly string[] | DeadmanError = ['demo.echo'];

  override beat(): Promise<BeatReply> {
    return Promise.reject(new Error('No worker beats here'));
  }

  override retire(): Promise<void> {
    return Promise.resolve();
  }

  override liveTypes(): Promise<ReadonlySet<string>> {
    this.looks += 1;
    return this.types instanceof DeadmanError ? Promise.reject(this.types) : Promise.resolve(new Set(this.types));
  }
}

describe('LiveTypes', () => {
  it('looks every two seconds, and asks nobody in between', async () => {
    const registry = new StubRegistry();
    const clock = new FakeClock();
    const types = new LiveTypes(registry, clock);
    await types.start();
    expect([types.isUnserved('demo.echo'), types.isUnserved('other')]).toEqual([false, true]);
    registry.types = ['other'];
    await clock.advance(1_999);
    expect(types.isUnserved('other')).toBe(true);
    await clock.advance(1);
    expect([types.isUnserved('other'), registry.looks]).toEqual([false, 2]);
    await types.stop();
    await clock.advance(10_000);
    expect([registry.looks, clock.pendingTimers]).toEqual([2, 0]);
  });

  it('calls no type unserved while nobody knows', async () => {
    const registry = new StubRegistry();
    const clock = new FakeClock();
    const types = new LiveTypes(registry, clock);
    expect(types.isUnserved('other')).toBe(false);
    await types.start();
    registry.types = new DeadmanError('store-unavailable');
    await clock.advance(2_000);
    expect(types.isUnserved('other')).toBe(false);
    registry.types = [];
    await clock.advance(2_000);
    expect(types.isUnserved('other')).toBe(true);
    await types.stop();
  });
});

describe('POST /jobs', () => {
  let api: ApiUnderTest;
  afterEach(() => api.close());

  it('takes a job of a type that no live worker has a handler for, and warns', async () => {
    const registry = new StubRegistry();
    api = await startApi({ ...memoryParts(), registry });
    const served = await api.submit({ type: 'demo.echo' });
    expect(served).not.toHaveProperty('warnings');
    const unserved = await api.submit({ type: 'order.charge' }, { 'idempotency-key': 'a' });
    expect(unserved['warnings']).toEqual([{ code: 'no-live-worker', detail: expect.any(String) }]);
    const again = await api.http.post('/jobs').set('idempotency-key', 'a').send({ type: 'order.charge' });
    expect(again.body).not.toHaveProperty('warnings');
    expect(registry.looks).toBe(1);
  });
});
