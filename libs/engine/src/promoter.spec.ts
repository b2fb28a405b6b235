import { DeadmanError } from '@deadman/domain';
import type { DueJob, StoreNotice } from '@deadman/domain';
import { MemoryWakeUpSet } from '@deadman/leases';
import { MemoryDatabase, MemoryJobStore } from '@deadman/store';
import {
  aCancel,
  aSubmission,
  aSubmissionDueIn,
  FakeClock,
  FixedRandom,
  RecordingEvents,
  SeededRandom,
} from '@deadman/testing';
import { MemoryTransport } from '@deadman/transport';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { runLoop } from './loop.js';
import { Promoter } from './promoter.js';
import type { PromoterOptions } from './promoter.js';
import { Publisher } from './publisher.js';

/** Counts the loads and tells when each batch of jobs became ready. */
class WatchedStore extends MemoryJobStore {
  loads = 0;

  override findDueSoon(request: { readonly withinMs: number; readonly limit: number }): Promise<readonly DueJob[]> {
    this.loads += 1;
    return super.findDueSoon(request);
  }
}

/** Fails while it is not reachable, as a server does that is down. */
class FaultyWakeUps extends MemoryWakeUpSet {
  isReachable = true;

  override async add(entries: readonly DueJob[]): Promise<void> {
    this.#reach();
    return super.add(entries);
  }

  override async popDue(limit: number): Promise<readonly string[]> {
    this.#reach();
    return super.popDue(limit);
  }

  #reach(): void {
    if (!this.isReachable) throw new DeadmanError('lease-store-unavailable');
  }
}

/** Notes the longest sleep that anything asked for. */
class WatchedClock extends FakeClock {
  longestMs = 0;

  override setTimer(delayMs: number, callback: () => void): ReturnType<FakeClock['setTimer']> {
    this.longestMs = Math.max(this.longestMs, delayMs);
    return super.setTimer(delayMs, callback);
  }
}

describe('Promoter', () => {
  let clock: WatchedClock;
  let database: MemoryDatabase;
  let store: WatchedStore;
  let wakeUps: FaultyWakeUps;
  let events: RecordingEvents;
  let stop: AbortController;

  beforeEach(() => {
    clock = new WatchedClock();
    database = new MemoryDatabase(clock);
    store = new WatchedStore(database);
    wakeUps = new FaultyWakeUps(clock);
    events = new RecordingEvents();
    stop = new AbortController();
  });

  function promoter(options: Partial<PromoterOptions> = {}): Promoter {
    const publisher = new Publisher({ transport: new MemoryTransport(clock), store, clock, events });
    return new Promoter({ store, wakeUps, publisher, clock, events }, options);
  }

  function scanLoop(one: Promoter): Promise<void> {
    const spec = { clock, random: new FixedRandom(), events, signal: stop.signal };
    return runLoop({ ...spec, name: 'promoter', everyMs: 1_000, turn: () => one.turn() });
  }

  function wakeLoop(one: Promoter): Promise<void> {
    const spec = { clock, random: new FixedRandom(), events, signal: stop.signal };
    return runLoop({ ...spec, name: 'wake-ups', everyMs: 0, turn: (signal) => one.wakeTurn(signal) });
  }

  async function submitDueIn(delayMs: number): Promise<string> {
    const { results } = await store.submit([aSubmissionDueIn(delayMs)]);
    return results[0]!.job.id;
  }

  async function stateOf(id: string): Promise<string> {
    return (await store.findJob(id))!.state;
  }

  const promoted = (): number => events.of('jobs-promoted').reduce((sum, { count }) => sum + count, 0);
  const latestMs = (): number => Math.max(...events.of('jobs-promoted').map(({ maxDelayMs }) => maxDelayMs));

  describe('scan', () => {
    it('moves what is due, leaves what is not, and tells by how much it was late', async () => {
      const due = await submitDueIn(1_000);
      const later = await submitDueIn(5_000);
      await clock.advance(1_200);
      expect(await promoter().turn()).toBeUndefined();
      expect([await stateOf(due), await stateOf(later)]).toEqual(['PENDING', 'SCHEDULED']);
      expect(events.of('jobs-promoted')).toEqual([{ kind: 'jobs-promoted', count: 1, maxDelayMs: 200 }]);
    });

    it('goes on at once while its batch is full', async () => {
      for (let job = 0; job < 5; job += 1) await submitDueIn(1_000);
      await clock.advance(1_000);
      const two = promoter({ limit: 2 });
      expect([await two.turn(), await two.turn(), await two.turn()]).toEqual(['again', 'again', undefined]);
      expect(promoted()).toBe(5);
    });

    it('does not depend on the wake-up set', async () => {
      wakeUps.isReachable = false;
      const one = promoter();
      void scanLoop(one);
      void wakeLoop(one);
      for (let job = 0; job < 50; job += 1) await submitDueIn(1 + job * 333);
      await clock.advance(20_000);
      expect(promoted()).toBe(50);
      expect(latestMs()).toBeLessThanOrEqual(1_000);
      expect(events.of('loop-failed').length).toBeGreaterThan(0);
    });

    it('does not wait for a transport that never answers', async () => {
      const transport = new MemoryTransport(clock);
      transport.publish = () => new Promise(() => {});
      const publisher = new Publisher({ transport, store, clock, events });
      const one = new Promoter({ store, wakeUps, publisher, clock, events });
      for (let job = 0; job < 10; job += 1) await submitDueIn(1 + job * 500);
      void scanLoop(one);
      void wakeLoop(one);
      await clock.advance(6_000);
      expect(await store.countJobs({ states: ['SCHEDULED'] }, 10)).toBe(0);
    });
  });

  describe('wake-ups', () => {
    it('moves jobs at their time, late by no more than 25 ms, whenever it is', async () => {
      const random = SeededRandom.announced('promotion');
      void wakeLoop(promoter());
      for (let job = 0; job < 300; job += 1) await submitDueIn(random.integer(1_500, 90_000));
      await clock.advance(100_000);
      expect(promoted()).toBe(300);
      expect(latestMs()).toBeLessThanOrEqual(25);
    });

    it('moves no job early, and loads an id again that was popped too early', async () => {
      await submitDueIn(2_300);
      const id = await submitDueIn(2_500);
      void wakeLoop(promoter());
      await clock.advance(2_100);
      await wakeUps.add([{ id, inMs: 100 }]);
      await clock.advance(399);
      expect(await stateOf(id)).toBe('SCHEDULED');
      await clock.advance(26);
      expect(await stateOf(id)).toBe('PENDING');
      expect(latestMs()).toBeLessThanOrEqual(25);
    });

    it('is told of a job that is due before the next load', async () => {
      const one = promoter();
      const listener = ({ kind }: StoreNotice): void => (kind === 'due' ? one.nudge() : undefined);
      database.listen(listener);
      void wakeLoop(one);
      await clock.advance(1_050);
      const id = await submitDueIn(300);
      await clock.advance(325);
      expect(await stateOf(id)).toBe('PENDING');
    });

    it('hears a nudge that comes while it reads the store', async () => {
      const one = promoter();
      const read = store.findDueSoon.bind(store);
      let isNudged = false;
      store.findDueSoon = async (request) => {
        const due = await read(request);
        if (!isNudged) {
          isNudged = true;
          await submitDueIn(100);
          one.nudge();
        }
        return due;
      };
      void wakeLoop(one);
      await clock.advance(125);
      expect(promoted()).toBe(1);
    });

    it('makes a storm of nudges into a few loads', async () => {
      const one = promoter();
      void wakeLoop(one);
      for (let ms = 0; ms < 1_000; ms += 1) {
        one.nudge();
        await clock.advance(1);
      }
      expect(store.loads).toBeLessThanOrEqual(52);
      expect(store.loads).toBeGreaterThanOrEqual(40);
    });

    it('sleeps no longer than until the next load, however far away a job is', async () => {
      await store.submit([aSubmission({}, { kind: 'at', at: new Date('9999-12-31T23:59:59.999Z') })]);
      void wakeLoop(promoter());
      await clock.advance(10_000);
      expect(clock.longestMs).toBeLessThanOrEqual(1_000);
      expect(store.loads).toBeLessThanOrEqual(11);
    });

    it('sleeps for as long as nothing can be due, instead of looking again and again', async () => {
      await submitDueIn(9_500);
      void wakeLoop(promoter());
      await clock.advance(10_000);
      expect(promoted()).toBe(1);
      // One for each load, and one for the job.
      expect(events.of('loop-turned').length).toBeLessThanOrEqual(13);
    });

    it('does nothing for a job that was cancelled after it was loaded', async () => {
      const id = await submitDueIn(2_000);
      void wakeLoop(promoter());
      await clock.advance(1_500);
      await store.apply([aCancel((await store.findJob(id))!)]);
      await clock.advance(5_000);
      expect([await stateOf(id), promoted()]).toEqual(['CANCELLED', 0]);
    });

    it('moves each job once when several promoters share the set', async () => {
      for (const one of [promoter(), promoter(), promoter()]) {
        void wakeLoop(one);
        void scanLoop(one);
      }
      for (let job = 0; job < 100; job += 1) await submitDueIn(1_500 + job * 50);
      await clock.advance(10_000);
      expect(promoted()).toBe(100);
      expect(latestMs()).toBeLessThanOrEqual(25);
    });

    it('recovers by itself when the set was away and came back', async () => {
      void wakeLoop(promoter());
      await clock.advance(2_000);
      wakeUps.isReachable = false;
      await clock.advance(20_000);
      wakeUps.isReachable = true;
      await clock.advance(6_000);
      events.clear();
      await submitDueIn(3_000);
      await clock.advance(3_100);
      expect([promoted(), latestMs() <= 25]).toEqual([1, true]);
    });

    it('ends at once when it is stopped in its sleep, and leaves no timer behind', async () => {
      const ended = wakeLoop(promoter());
      await clock.advance(100);
      stop.abort();
      await ended;
      expect(clock.pendingTimers).toBe(0);
    });

    it('throws what the store throws, so that its loop backs off', async () => {
      store.findDueSoon = () => Promise.reject(new DeadmanError('store-unavailable'));
      await expect(promoter().wakeTurn(stop.signal)).rejects.toMatchObject({ code: 'store-unavailable' });
    });
  });
});
