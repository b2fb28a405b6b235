import type { Job, OutboxEntry } from '@deadman/domain';
import { MemoryDatabase, MemoryJobStore } from '@deadman/store';
import {
  aFailure,
  aSubmission,
  FakeClock,
  FixedRandom,
  RecordingEvents,
  RecordingSink,
  SequenceIds,
} from '@deadman/testing';
import { MemoryTransport } from '@deadman/transport';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { DeadLetterRecorder } from './dead-letter-recorder.js';
import { runLoop } from './loop.js';
import { Publisher } from './publisher.js';
import { Relay } from './relay.js';

/** Acknowledges only while it is reachable, and notes what it was asked to send, and when. */
class WatchedTransport extends MemoryTransport {
  isReachable = true;
  readonly sent: { readonly atMs: number; readonly entries: readonly OutboxEntry[] }[] = [];
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    super(clock, { faults: { isReachable: () => this.isReachable } });
    this.#clock = clock;
  }

  override publish(entries: readonly OutboxEntry[]): Promise<readonly string[]> {
    this.sent.push({ atMs: this.#clock.monotonicMs(), entries });
    return super.publish(entries);
  }
}

describe('Relay', () => {
  const ids = new SequenceIds();
  let clock: FakeClock;
  let store: MemoryJobStore;
  let transport: WatchedTransport;
  let events: RecordingEvents;

  beforeEach(() => {
    clock = new FakeClock();
    store = new MemoryJobStore(new MemoryDatabase(clock));
    transport = new WatchedTransport(clock);
    events = new RecordingEvents();
  });

  const relay = (limit = 500): Relay =>
    new Relay({ store, publisher: new Publisher({ transport, store, clock, events }) }, { limit });

  async function runFor(ms: number): Promise<void> {
    const stop = new AbortController();
    const one = relay();
    const turn = (): Promise<'again' | void> => one.turn();
    const spec = { name: 'relay', everyMs: 100, turn, clock, random: new FixedRandom(), events, signal: stop.signal };
    const ended = runLoop(spec);
    await clock.advance(ms);
    stop.abort();
    await ended;
  }

  async function submitted(): Promise<Job> {
    const { results } = await store.submit([aSubmission()]);
    return results[0]!.job;
  }

  /** A job that died, and whose ticket was sent long ago. */
  async function dead(): Promise<Job> {
    const { results, outbox } = await store.submit([aSubmission()]);
    await store.deleteOutbox(outbox.map(({ id }) => id));
    const { id, type } = results[0]!.job;
    const request = { token: ids.random(), workerId: ids.random(), types: [type], quarantineFrom: 7 };
    const [claimed] = await store.claim({ ...request, ids: [id] });
    await store.apply([aFailure(claimed!, {}, false)]);
    return claimed!;
  }

  it('leaves what is younger than 3 s to whoever wrote it', async () => {
    await submitted();
    await clock.advance(2_900);
    await relay().turn();
    expect(transport.sent).toEqual([]);
  });

  it('sends what its writer left behind, and is done with it', async () => {
    const job = await submitted();
    const sink = new RecordingSink();
    await transport.consumeReady([job.queue], sink);
    await runFor(10_000);
    expect(sink.received).toEqual([job.id]);
    expect(await store.outboxAgeMs()).toBe(0);
    expect(events.of('outbox-sent')).toEqual([{ kind: 'outbox-sent', by: 'relay', count: 1, failed: 0 }]);
  });

  it('keeps what was not acknowledged, and tries again after 1 s, doubling to 60 s', async () => {
    await submitted();
    transport.isReachable = false;
    await runFor(300_000);
    const times = transport.sent.map(({ atMs }) => atMs);
    const pauses = times.slice(1).map((atMs, index) => Math.floor((atMs - times[index]!) / 1_000));
    expect(pauses.slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);

    transport.isReachable = true;
    await runFor(61_000);
    expect(await store.outboxAgeMs()).toBe(0);
  });

  it('goes on at once while its batch is full and everything is acknowledged', async () => {
    for (let job = 0; job < 5; job += 1) await submitted();
    await clock.advance(3_000);
    const two = relay(2);
    expect([await two.turn(), await two.turn(), await two.turn()]).toEqual(['again', 'again', undefined]);
    await clock.advance(50);
    expect(await store.outboxAgeMs()).toBe(0);
  });

  it('does not hurry a transport that is away', async () => {
    for (let job = 0; job < 5; job += 1) await submitted();
    await clock.advance(3_000);
    transport.isReachable = false;
    expect(await relay(2).turn()).toBeUndefined();
  });

  it('does nothing, quietly, when nothing is left behind', async () => {
    await relay().turn();
    expect([transport.sent, events.all]).toEqual([[], []]);
  });

  it('lets two relays take different rows', async () => {
    for (let job = 0; job < 20; job += 1) await submitted();
    await clock.advance(3_000);
    await Promise.all([relay(10).turn(), relay(10).turn()]);
    const sent = transport.sent.flatMap(({ entries }) => entries.map(({ id }) => id));
    expect([sent.length, new Set(sent).size]).toEqual([20, 20]);
  });

  it('tells of a death again and again, acknowledged or not, until its recorder has recorded it, and then never again', async () => {
    const job = await dead();
    await runFor(15_000);
    const told = transport.sent.length;
    expect(told).toBeGreaterThanOrEqual(3);
    expect(transport.sent.at(-1)!.entries).toMatchObject([{ kind: 'dead', jobId: job.id, attempt: 1 }]);
    expect(await store.outboxAgeMs()).toBeGreaterThan(0);

    const recorder = new DeadLetterRecorder({ transport, store, clock, random: new FixedRandom(), events });
    await recorder.start();
    await runFor(1_000);
    expect(events.of('dead-letter-recorded')).toHaveLength(1);
    expect(await store.outboxAgeMs()).toBe(0);
    transport.sent.length = 0;
    await runFor(120_000);
    expect(transport.sent).toEqual([]);
    await recorder.stop();
  });
});
