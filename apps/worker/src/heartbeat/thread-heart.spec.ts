import { Clock } from '@deadman/domain';
import type { Timer } from '@deadman/domain';
import type { HeartWord } from '@deadman/engine';
import { deferred, FakeClock, RecordingEvents, settle } from '@deadman/testing';
import type { Deferred } from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MessageChannel } from 'node:worker_threads';
import type { FromHeart, ToHeart } from './messages.js';
import { ThreadHeart } from './thread-heart.js';
import { ThreadLink } from './thread-link.js';

const PULSE_MS = 500;
const SILENT_AFTER_MS = 2_000;

/** A clock whose timers may come late, as those of a thread that was blocked or frozen. */
class LateClock extends Clock {
  readonly #clock: FakeClock;
  missedMs = 0;

  constructor(clock: FakeClock) {
    super();
    this.#clock = clock;
  }

  override monotonicMs(): number {
    return this.#clock.monotonicMs() + this.missedMs;
  }

  override now(): Date {
    return this.#clock.now();
  }

  override setTimer(delayMs: number, callback: () => void): Timer {
    return this.#clock.setTimer(delayMs, callback);
  }
}

/** Turns of the event loop in which a message crosses a channel. */
const arrived = (): Promise<void> => settle(10);

describe('ThreadHeart', () => {
  let clock: FakeClock;
  let ownClock: LateClock;
  let events: RecordingEvents;
  let heard: ToHeart[];
  let thread: ThreadLink<ToHeart, FromHeart>;
  let ended: Deferred<Error | null>;
  let deaths: Error[];
  let words: HeartWord[];
  let heart: ThreadHeart;

  beforeEach(() => {
    clock = new FakeClock();
    ownClock = new LateClock(clock);
    events = new RecordingEvents();
    heard = [];
    ended = deferred();
    deaths = [];
    words = [];
    const { port1: near, port2: far } = new MessageChannel();
    thread = new ThreadLink(far, (message) => void heard.push(message));
    heart = new ThreadHeart(
      {
        clock: ownClock,
        events,
        ports: { near, far },
        startThread: () => ({ ended: ended.promise }),
        onDeath: (error) => void deaths.push(error),
      },
      { pulseMs: PULSE_MS, silentAfterMs: SILENT_AFTER_MS },
    );
    heart.start((word) => void words.push(word));
  });

  afterEach(async () => {
    ended.resolve(null);
    await heart.stop();
    thread.close();
  });

  const newsHeard = (): readonly string[] =>
    heard.flatMap((message) => (message.kind === 'news' ? [message.news.map(({ kind }) => kind).join(' ')] : []));

  /** The thread shows that it lives with every pulse, for a while. */
  async function liveFor(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += PULSE_MS) {
      thread.say({ kind: 'alive' });
      await clock.advance(PULSE_MS);
    }
  }

  it('tells of the begin of a claim before anything else happens', () => {
    heart.tell({ kind: 'claim-began', token: 'one' });
    thread.catchUp();
    expect(newsHeard()).toEqual(['claim-began']);
  });

  it('tells what happens in one turn together, in order, and before the turn is over', async () => {
    heart.tell({ kind: 'run-started', key: 'a', atMs: 1 });
    heart.tell({ kind: 'run-settling', key: 'a' });
    heart.tell({ kind: 'claim-began', token: 'one' });
    heart.tell({ kind: 'claim-ended', token: 'one' });
    await Promise.resolve();
    thread.catchUp();
    expect(newsHeard()).toEqual(['run-started run-settling claim-began', 'claim-ended']);
  });

  it('passes on what the heart says and tells', async () => {
    thread.say({ kind: 'word', word: { kind: 'beaten', isRegistered: true } });
    thread.say({ kind: 'event', event: { kind: 'leases-renewed', result: 'renewed', count: 2 } });
    await arrived();
    expect(words).toEqual([{ kind: 'beaten', isRegistered: true }]);
    expect(events.of('leases-renewed')).toMatchObject([{ count: 2 }]);
  });

  it('a beat that was asked for ends when the heart says so, after its words', async () => {
    let isDone = false;
    void heart.beat().then(() => (isDone = true));
    await arrived();
    expect(heard.at(-1)).toEqual({ kind: 'beat', id: 1 });
    expect(isDone).toBe(false);
    thread.say({ kind: 'word', word: { kind: 'beaten', isRegistered: false } });
    thread.say({ kind: 'beat-done', id: 1 });
    await arrived();
    expect([isDone, words.length]).toEqual([true, 1]);
  });

  it('gives the thread its time to start', async () => {
    await clock.advance(29_000);
    expect(deaths).toEqual([]);
    await clock.advance(3_000);
    expect(deaths).toHaveLength(1);
  });

  it('dies once of a thread that falls silent for a TTL', async () => {
    await liveFor(10_000);
    expect(deaths).toEqual([]);
    await clock.advance(SILENT_AFTER_MS - PULSE_MS);
    expect(deaths).toEqual([]);
    await clock.advance(2 * PULSE_MS);
    expect(deaths).toMatchObject([{ message: expect.stringContaining('Nothing was heard of the heart') }]);
    await clock.advance(60_000);
    expect(deaths).toHaveLength(1);
  });

  it('holds no silence against the heart in which it was itself blocked', async () => {
    await liveFor(1_000);
    thread.say({ kind: 'alive' });
    ownClock.missedMs = 60_000;
    await liveFor(2_000);
    expect(deaths).toEqual([]);
  });

  it('dies of a thread that ends, with its error', async () => {
    ended.resolve(new Error('out of memory'));
    await arrived();
    expect(deaths).toMatchObject([{ message: 'out of memory' }]);
  });

  it('dies of nothing once it was told to stop, and waits for the thread', async () => {
    let isStopped = false;
    void heart.stop().then(() => (isStopped = true));
    await arrived();
    expect([heard.at(-1), isStopped]).toEqual([{ kind: 'stop' }, false]);
    ended.resolve(null);
    await arrived();
    expect([isStopped, deaths, clock.pendingTimers]).toEqual([true, [], 0]);
  });
});
