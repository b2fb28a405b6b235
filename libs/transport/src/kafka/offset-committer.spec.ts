import { deferred, FakeClock, settle } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import type { Offsets } from 'kafkajs';
import type { KafkaTransportEvent } from './kafka-transport-listener.js';
import { OffsetCommitter } from './offset-committer.js';
import type { CommitOffsets } from './offset-committer.js';
import { OffsetLedger } from './offset-ledger.js';
import { TrackedMessage } from './partition-book.js';

const EVERY_MS = 500;
const topic = 'jobs.ready';

function setUp(answer: () => Promise<void> = () => Promise.resolve()) {
  const clock = new FakeClock();
  const events: KafkaTransportEvent['kind'][] = [];
  const sent: Offsets[] = [];
  const ledger = new OffsetLedger(
    { offsetHoldMs: 30_000, maxTracked: 100 },
    { staleDropped: () => undefined, offsetsLetGo: () => undefined },
  );
  const listener = { on: ({ kind }: KafkaTransportEvent): void => void events.push(kind) };
  const committer = new OffsetCommitter({ topic, ledger, clock, listener }, EVERY_MS);
  const commitOffsets: CommitOffsets = (offsets) => {
    sent.push(offsets);
    return answer();
  };
  committer.use(commitOffsets);
  ledger.assign([0]);
  committer.joined();
  committer.start();
  let next = 0;
  const settleOne = (): void => void ledger.track(ledger.generation, 0, BigInt(next++), new TrackedMessage([]));
  const offsets = (): string[] =>
    sent.flatMap(({ topics }) => topics.flatMap(({ partitions }) => partitions[0]!.offset));
  return { clock, committer, ledger, events, settleOne, offsets };
}

describe('OffsetCommitter', () => {
  it('commits every half second what has settled, and nothing twice', async () => {
    const { clock, settleOne, offsets, events } = setUp();
    for (let second = 0; second < 3; second += 1) {
      settleOne();
      await clock.advance(2 * EVERY_MS);
    }
    expect(offsets()).toEqual(['1', '2', '3']);
    expect(events).toEqual(['offsets-committed', 'offsets-committed', 'offsets-committed']);
  });

  it('says again, with the next commit, what a failed one said', async () => {
    let isUp = false;
    const { clock, settleOne, offsets, events } = setUp(async () => {
      if (!isUp) throw new Error('The coordinator is not aware of this member');
    });
    settleOne();
    await clock.advance(EVERY_MS);
    settleOne();
    isUp = true;
    await clock.advance(EVERY_MS);
    expect(offsets()).toEqual(['1', '2']);
    expect(events).toEqual(['commit-failed', 'offsets-committed']);
  });

  it('has one commit under way at a time', async () => {
    const answer = deferred();
    const { clock, settleOne, offsets } = setUp(() => answer.promise);
    settleOne();
    await clock.advance(EVERY_MS);
    settleOne();
    await clock.advance(10 * EVERY_MS);
    expect(offsets()).toEqual(['1']);
    answer.resolve();
    await clock.advance(EVERY_MS);
    expect(offsets()).toEqual(['1', '2']);
  });

  it('never gives the offsets of one generation the name of the next: what is assigned in the same turn comes first', async () => {
    const { committer, ledger, settleOne, offsets } = setUp();
    settleOne();
    const committed = committer.commit();
    await Promise.resolve();
    ledger.assign([0]);
    await committed;
    expect(offsets()).toEqual([]);
  });

  it('commits at once when the group is about to join again, and nothing until it has', async () => {
    const { clock, committer, ledger, settleOne, offsets } = setUp();
    settleOne();
    committer.leaving();
    expect(offsets()).toEqual(['1']);
    settleOne();
    await clock.advance(10 * EVERY_MS);
    expect(offsets()).toEqual(['1']);
    ledger.assign([0]);
    committer.joined();
    settleOne();
    await clock.advance(EVERY_MS);
    expect(offsets()).toEqual(['1', '3']);
  });

  it('commits nothing once it was stopped', async () => {
    const { clock, committer, settleOne, offsets } = setUp();
    settleOne();
    committer.stop();
    await clock.advance(10 * EVERY_MS);
    await settle();
    expect(offsets()).toEqual([]);
  });
});
