import { MemoryDatabase, MemoryWorkerRegistry } from '@deadman/store';
import { FakeClock } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { LiveWorkers } from './live-workers.js';

const OTHER = { incarnation: '7f3f1c8e-0a4b-4c8e-9a55-0d2a5d8f1c11', name: 'other', queues: ['default'], slots: 1 };

describe('LiveWorkers', () => {
  it('counts the worker of this process before its first beat, and the others by theirs', async () => {
    const registry = new MemoryWorkerRegistry(new MemoryDatabase(new FakeClock()));
    let own: readonly string[] = [];
    const live = new LiveWorkers(registry, () => own);
    await expect(live.liveTypes(30_000)).rejects.toMatchObject({ code: 'store-unavailable' });

    own = ['demo.echo'];
    expect([...(await live.liveTypes(30_000))]).toEqual(['demo.echo']);

    const worker = { ...OTHER, types: ['email.send'] };
    await live.beat({ worker, quarantineFrom: 7, quarantineWaitMs: 60_000 });
    expect([...(await live.liveTypes(30_000))]).toEqual(['demo.echo', 'email.send']);
    await live.retire(OTHER.incarnation);
    expect([...(await live.liveTypes(30_000))]).toEqual(['demo.echo']);
  });
});
