import { DEFAULT_LIMITS, leasePolicy, StoreNotices } from '@deadman/domain';
import type { StoreNotice } from '@deadman/domain';
import type { HeartWord } from '@deadman/engine';
import { MemoryLeaseStore } from '@deadman/leases';
import { MemoryDatabase, MemoryWorkerRegistry } from '@deadman/store';
import { aClaim, FakeClock, FixedRandom, RecordingEvents, settle } from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MessageChannel } from 'node:worker_threads';
import { HeartServer } from './heart-server.js';
import { ThreadHeart } from './thread-heart.js';

const POLICY = leasePolicy(30_000);
const WORKER = { incarnation: 'w', name: 'w', types: ['demo.echo'], queues: ['default'], slots: 4 };

/** Says what the test says. */
class HandNotices extends StoreNotices {
  say: (notice: StoreNotice) => void = () => {};

  override async subscribe(listener: (notice: StoreNotice) => void): Promise<{ unsubscribe(): Promise<void> }> {
    this.say = listener;
    return { unsubscribe: async () => {} };
  }
}

/** Both ends of the heart's path, in one thread: whatever one has said waits until the other reads it. */
describe('HeartServer', () => {
  let notices: HandNotices;
  let server: HeartServer;
  let heart: ThreadHeart;
  let words: HeartWord[];

  beforeEach(async () => {
    const clock = new FakeClock();
    const { port1: near, port2: far } = new MessageChannel();
    notices = new HandNotices();
    words = [];
    server = new HeartServer(
      {
        port: far,
        registry: new MemoryWorkerRegistry(new MemoryDatabase(clock)),
        leases: new MemoryLeaseStore(clock),
        notices,
        clock,
        random: new FixedRandom(),
        onBlocked: () => {},
      },
      { worker: WORKER, policy: POLICY, limits: DEFAULT_LIMITS, quarantineWaitMs: 60_000 },
    );
    const ended = server.stopWanted.then(() => server.stop()).then(() => null);
    heart = new ThreadHeart(
      {
        clock,
        events: new RecordingEvents(),
        ports: { near, far },
        startThread: () => ({ ended }),
        onDeath: (error) => {
          throw error;
        },
      },
      { pulseMs: 500, silentAfterMs: 2_000 },
    );
    heart.start((word) => void words.push(word));
    await server.start();
  });

  afterEach(() => heart.stop());

  it('tells of a cancel whose notice is faster than the claim, and than the news that it has begun', async () => {
    const { token, workerId } = aClaim();
    const lease = { jobId: 'cancelled', workerId, attempt: 1, token };
    heart.tell({ kind: 'claim-began', token });
    notices.say({ kind: 'cancel', claims: [lease, { jobId: 'of somebody else', token: 'of somebody else' }] });
    heart.tell({ kind: 'runs-held', runs: [{ lease, timeoutMs: 60_000, claimedAtMs: 0 }] });
    heart.tell({ kind: 'claim-ended', token });
    await settle(10);
    expect(words.filter(({ kind }) => kind === 'cancel-asked')).toEqual([
      { kind: 'cancel-asked', keys: [`${token}/cancelled`] },
    ]);
  });
});
