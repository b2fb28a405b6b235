import { FakeClock, FixedRandom, RecordingEvents, deferred, settle } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { runLoop } from './loop.js';
import type { LoopSpec } from './loop.js';

describe('runLoop', () => {
  let clock: FakeClock;
  let events: RecordingEvents;
  let stop: AbortController;
  let turnedAtMs: number[];

  beforeEach(() => {
    clock = new FakeClock();
    events = new RecordingEvents();
    stop = new AbortController();
    turnedAtMs = [];
  });

  function loop(turn: LoopSpec['turn'], spec: Partial<LoopSpec> = {}): Promise<void> {
    const noted: LoopSpec['turn'] = (signal) => {
      turnedAtMs.push(clock.monotonicMs());
      return turn(signal);
    };
    const random = new FixedRandom();
    return runLoop({ name: 'test', everyMs: 1_000, clock, random, events, signal: stop.signal, ...spec, turn: noted });
  }

  it('turns at once and then after each pause', async () => {
    void loop(async () => {});
    await clock.advance(3_000);
    expect(turnedAtMs).toEqual([0, 1_000, 2_000, 3_000]);
  });

  it('makes each pause up to a tenth shorter or longer', async () => {
    void loop(async () => {}, { random: new FixedRandom(0) });
    await clock.advance(900);
    expect(turnedAtMs).toEqual([0, 900]);
    stop.abort();

    turnedAtMs = [];
    stop = new AbortController();
    void loop(async () => {}, { random: new FixedRandom(0.999_999) });
    await clock.advance(1_099);
    expect(turnedAtMs).toHaveLength(1);
    await clock.advance(1);
    expect(turnedAtMs).toHaveLength(2);
  });

  it('asks for the pause anew each time when it is a function', async () => {
    const pauses = [100, 300];
    void loop(async () => {}, { everyMs: () => pauses.shift() ?? 10_000 });
    await clock.advance(1_000);
    expect(turnedAtMs).toEqual([0, 100, 400]);
  });

  it('turns again without a pause while a turn says so', async () => {
    let left = 3;
    void loop(async () => (left-- > 0 ? 'again' : undefined));
    await settle();
    expect(turnedAtMs).toEqual([0, 0, 0, 0]);
  });

  it('never begins a turn while one is under way, however long it takes', async () => {
    const slow = deferred<void>();
    void loop(() => slow.promise);
    await clock.advance(60_000);
    expect(turnedAtMs).toEqual([0]);
    slow.resolve();
    await clock.advance(1_000);
    expect(turnedAtMs).toEqual([0, 61_000]);
  });

  it('backs off while turns fail, from 250 ms to 5 s, and is back to normal after one that does not', async () => {
    let failures = 7;
    void loop(async () => {
      if (failures-- > 0) throw new Error('no');
    });
    await clock.advance(20_000);
    const pauses = turnedAtMs.slice(1).map((atMs, index) => atMs - turnedAtMs[index]!);
    expect(pauses.slice(0, 9)).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 1_000, 1_000]);
  });

  it('backs off no further than its own pause when that is longer than 5 s', async () => {
    void loop(() => Promise.reject(new Error('no')), { everyMs: 60_000 });
    await clock.advance(400_000);
    const pauses = turnedAtMs.slice(1).map((atMs, index) => atMs - turnedAtMs[index]!);
    expect(Math.max(...pauses)).toBe(60_000);
  });

  it('says after every turn that it lives, a failed one included, and tells of the error', async () => {
    const error = new Error('no');
    let turns = 0;
    void loop(async () => {
      if (turns++ === 0) throw error;
    });
    await clock.advance(250);
    expect(events.all).toEqual([
      { kind: 'loop-failed', loop: 'test', error },
      { kind: 'loop-turned', loop: 'test' },
      { kind: 'loop-turned', loop: 'test' },
    ]);
  });

  it('takes a turn that throws before it returns a promise as a failed turn', async () => {
    void loop(() => {
      throw new Error('at once');
    });
    await settle();
    expect(events.of('loop-failed')).toHaveLength(1);
  });

  it('ends at once when it is stopped in its pause, and leaves no timer behind', async () => {
    const ended = loop(async () => {});
    await settle();
    stop.abort();
    await ended;
    expect([turnedAtMs.length, clock.pendingTimers]).toEqual([1, 0]);
  });

  it('lets the turn under way finish when it is stopped, and begins no other, even one asked for at once', async () => {
    const slow = deferred<'again'>();
    let isEnded = false;
    const ended = loop(() => slow.promise).then(() => (isEnded = true));
    stop.abort();
    await settle();
    expect(isEnded).toBe(false);
    slow.resolve('again');
    await ended;
    expect(turnedAtMs).toEqual([0]);
  });

  it('does not begin when it is stopped already', async () => {
    stop.abort();
    await loop(async () => {});
    expect(turnedAtMs).toEqual([]);
  });
});
