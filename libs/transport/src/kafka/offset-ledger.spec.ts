import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { OffsetLedger } from './offset-ledger.js';
import type { OffsetLedgerOptions } from './offset-ledger.js';
import { TrackedMessage } from './partition-book.js';

const HOLD_MS = 1_000;

interface SetUp {
  readonly ledger: OffsetLedger;
  readonly counts: { stale: number; letGo: number };
}

function setUp(options: Partial<OffsetLedgerOptions> = {}): SetUp {
  const counts = { stale: 0, letGo: 0 };
  const ledger = new OffsetLedger(
    { offsetHoldMs: HOLD_MS, maxTracked: 1_000, ...options },
    {
      staleDropped: (count) => void (counts.stale += count),
      offsetsLetGo: (count) => void (counts.letGo += count),
    },
  );
  return { ledger, counts };
}

/** Hands over a message of one job whose id is its offset. */
function handOver(ledger: OffsetLedger, partition: number, offset: number): TrackedMessage {
  const message = new TrackedMessage([String(offset)]);
  expect(ledger.track(ledger.generation, partition, BigInt(offset), message)).toBe(true);
  return message;
}

/** Hands over such a message, whose job is claimed at once. */
function claim(ledger: OffsetLedger, partition: number, offset: number, nowMs = 0): TrackedMessage {
  const message = handOver(ledger, partition, offset);
  message.claimed(String(offset), nowMs);
  return message;
}

const offsets = (ledger: OffsetLedger, nowMs = 0): Record<number, number> =>
  Object.fromEntries(ledger.plan(nowMs).offsets.map(({ partition, offset }) => [partition, Number(offset)]));

describe('OffsetLedger', () => {
  it('commits nothing while the first message is at work, and all that is settled once it is done', () => {
    const { ledger } = setUp();
    ledger.assign([0]);
    const [first, second, third] = [7, 8, 9].map((offset) => claim(ledger, 0, offset));
    second!.done('8');
    expect(offsets(ledger)).toEqual({});
    first!.done('7');
    expect(offsets(ledger)).toEqual({ 0: 9 });
    third!.done('9');
    expect(offsets(ledger)).toEqual({ 0: 10 });
  });

  it('waits for every id of a message', () => {
    const { ledger } = setUp();
    ledger.assign([0]);
    const message = new TrackedMessage(['a', 'b']);
    ledger.track(1, 0, 5n, message);
    for (const jobId of ['b', 'a', 'b', 'stranger']) message.claimed(jobId, 0);
    for (const jobId of ['a', 'a', 'stranger']) message.done(jobId);
    expect(offsets(ledger)).toEqual({});
    message.done('b');
    expect(offsets(ledger)).toEqual({ 0: 6 });
  });

  it('moves over a message that names nothing', () => {
    const { ledger } = setUp();
    ledger.assign([0]);
    ledger.track(1, 0, 5n, new TrackedMessage([]));
    expect(offsets(ledger)).toEqual({ 0: 6 });
  });

  it('moves over gaps, which compaction and transactions leave in a log', () => {
    const { ledger } = setUp();
    ledger.assign([0]);
    for (const offset of [3, 9, 4_000_000_000]) handOver(ledger, 0, offset).done(String(offset));
    expect(offsets(ledger)).toEqual({ 0: 4_000_000_001 });
  });

  it('plans an offset again until the broker has taken it, and never after', () => {
    const { ledger } = setUp();
    ledger.assign([0]);
    handOver(ledger, 0, 5).done('5');
    expect(offsets(ledger)).toEqual({ 0: 6 });
    const plan = ledger.plan(0);
    ledger.confirm(plan);
    expect(offsets(ledger)).toEqual({});
  });

  it('lets a message that is at work too long give its offset free, and counts it', () => {
    const { ledger, counts } = setUp();
    ledger.assign([0]);
    claim(ledger, 0, 5, 0);
    claim(ledger, 0, 6, 10).done('6');
    expect(offsets(ledger, HOLD_MS - 1)).toEqual({});
    expect(offsets(ledger, HOLD_MS)).toEqual({ 0: 7 });
    expect(counts).toEqual({ stale: 0, letGo: 1 });
  });

  it('keeps the offset of a message that nobody has claimed, however long it waits, and of all behind it', () => {
    const { ledger, counts } = setUp();
    ledger.assign([0]);
    const waiting = handOver(ledger, 0, 5);
    claim(ledger, 0, 6, 0).done('6');
    claim(ledger, 0, 7, 0);
    const muchLater = 1_000 * HOLD_MS;
    expect(offsets(ledger, muchLater)).toEqual({});
    waiting.claimed('5', muchLater);
    expect(offsets(ledger, muchLater + HOLD_MS - 1)).toEqual({});
    expect(offsets(ledger, muchLater + HOLD_MS)).toEqual({ 0: 8 });
    expect(counts).toEqual({ stale: 0, letGo: 2 });
  });

  it('counts the hold from the claim of the last of a message’s ids, and waits for none that was not claimable', () => {
    const { ledger } = setUp();
    ledger.assign([0]);
    const message = new TrackedMessage(['early', 'late', 'stale']);
    ledger.track(1, 0, 5n, message);
    message.claimed('early', 0);
    message.claimed('late', 500);
    message.claimed('early', 900);
    expect(offsets(ledger, 5_000)).toEqual({});
    message.done('stale');
    expect(offsets(ledger, 500 + HOLD_MS - 1)).toEqual({});
    expect(offsets(ledger, 500 + HOLD_MS)).toEqual({ 0: 6 });
  });

  it('lets a claim move no offset once its partition went to others', () => {
    const { ledger } = setUp();
    ledger.assign([0]);
    const waiting = handOver(ledger, 0, 5);
    ledger.assign([0]);
    const again = handOver(ledger, 0, 5);
    waiting.claimed('5', 0);
    expect(offsets(ledger, 2 * HOLD_MS)).toEqual({});
    again.claimed('5', 0);
    expect(offsets(ledger, 2 * HOLD_MS)).toEqual({ 0: 6 });
  });

  it('remembers no more than its limit: the oldest give their offset free, though nobody has claimed them', () => {
    const { ledger, counts } = setUp({ maxTracked: 100 });
    ledger.assign([0]);
    for (let offset = 0; offset < 5_000; offset += 1) {
      handOver(ledger, 0, offset);
      ledger.plan(0);
    }
    expect(ledger.size).toBe(100);
    expect(counts.letGo).toBe(4_900);
    expect(offsets(ledger)).toEqual({ 0: 4_900 });
  });

  it('drops what settles after its partition went to others, and counts it', () => {
    const { ledger, counts } = setUp();
    ledger.assign([0, 1]);
    const lost = handOver(ledger, 0, 5);
    ledger.assign([1]);
    lost.done('5');
    expect(offsets(ledger)).toEqual({});
    expect(counts.stale).toBe(1);
  });

  it('drops what settles after a new generation, although the partition came back', () => {
    const { ledger, counts } = setUp();
    ledger.assign([0]);
    const old = handOver(ledger, 0, 5);
    ledger.assign([0]);
    const again = handOver(ledger, 0, 5);
    old.done('5');
    expect(offsets(ledger)).toEqual({});
    again.done('5');
    expect(offsets(ledger)).toEqual({ 0: 6 });
    expect(counts.stale).toBe(1);
  });

  it('takes no message of a past generation or of a partition that it does not own', () => {
    const { ledger } = setUp();
    const past = ledger.assign([0]);
    const now = ledger.assign([0]);
    expect(ledger.track(past, 0, 5n, new TrackedMessage([]))).toBe(false);
    expect(ledger.track(now, 1, 5n, new TrackedMessage([]))).toBe(false);
    expect(offsets(ledger)).toEqual({});
  });

  it('drops the confirmation of a plan of a past generation', () => {
    const { ledger, counts } = setUp();
    ledger.assign([0]);
    handOver(ledger, 0, 90).done('90');
    const plan = ledger.plan(0);
    ledger.assign([0]);
    ledger.confirm(plan);
    expect(counts.stale).toBe(1);
    handOver(ledger, 0, 5).done('5');
    expect(offsets(ledger)).toEqual({ 0: 6 });
  });

  it('counts the first delivery of an offset within a generation, and no repeat', () => {
    const { ledger } = setUp();
    ledger.assign([0]);
    const first = handOver(ledger, 0, 5);
    const repeat = new TrackedMessage(['5']);
    expect(ledger.track(1, 0, 5n, repeat)).toBe(false);
    repeat.done('5');
    expect(offsets(ledger)).toEqual({});
    first.done('5');
    expect(offsets(ledger)).toEqual({ 0: 6 });
  });

  it('begins again with a log that has begun again', () => {
    const { ledger } = setUp();
    ledger.assign([0]);
    handOver(ledger, 0, 90).done('90');
    ledger.confirm(ledger.plan(0));
    expect(ledger.committed(0)).toBe(91n);
    ledger.restart(0);
    handOver(ledger, 0, 0).done('0');
    expect(offsets(ledger)).toEqual({ 0: 1 });
  });
});

interface NaiveMessage {
  readonly generation: number;
  readonly partition: number;
  readonly offset: number;
  readonly undone: Set<string>;
  /** Job → when it was claimed. */
  readonly claims: Map<string, number>;
}

/** The rules of §8 over plain lists, walked in full every time. */
class NaiveLedger {
  generation = 0;
  readonly messages: NaiveMessage[] = [];
  owned = new Set<number>();
  readonly committed = new Map<number, number>();
  readonly reached = new Map<number, number>();

  assign(partitions: readonly number[]): void {
    this.generation += 1;
    this.owned = new Set(partitions);
    this.committed.clear();
    this.reached.clear();
  }

  /** Some of its jobs are neither done nor claimed for long. */
  #isHeld({ undone, claims }: NaiveMessage, nowMs: number): boolean {
    if (undone.size === 0) return false;
    const isWaiting = [...undone].some((job) => !claims.has(job));
    return isWaiting || Math.max(...claims.values()) > nowMs - HOLD_MS;
  }

  plan(nowMs: number): Record<number, number> {
    const planned: Record<number, number> = {};
    for (const partition of this.owned) {
      const mine = this.messages.filter((m) => m.generation === this.generation && m.partition === partition);
      if (mine.length === 0) continue;
      const firstHeld = mine.findIndex((message) => this.#isHeld(message, nowMs));
      const free = firstHeld === -1 ? mine : mine.slice(0, firstHeld);
      const reachedNow = free.length === 0 ? mine[0]!.offset : free.at(-1)!.offset + 1;
      // What once was given free stays free: time only passes, but the model is asked at any of its points.
      const reached = Math.max(reachedNow, this.reached.get(partition) ?? 0);
      this.reached.set(partition, reached);
      if (reached > (this.committed.get(partition) ?? mine[0]!.offset)) planned[partition] = reached;
    }
    return planned;
  }
}

type Step =
  | { readonly kind: 'assign'; readonly partitions: readonly number[] }
  | { readonly kind: 'hand-over'; readonly partition: number; readonly gap: number; readonly jobs: number }
  | { readonly kind: 'claim' | 'done'; readonly which: number; readonly job: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'commit'; readonly isTaken: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.subarray([0, 1, 2]).map((partitions): Step => ({ kind: 'assign', partitions })) },
  {
    weight: 6,
    arbitrary: fc
      .record({ partition: fc.nat(2), gap: fc.integer({ min: 1, max: 3 }), jobs: fc.nat(3) })
      .map((rest): Step => ({ kind: 'hand-over', ...rest })),
  },
  {
    weight: 16,
    arbitrary: fc.record({ kind: fc.constantFrom('claim', 'done'), which: fc.nat(), job: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 600 }).map((ms): Step => ({ kind: 'wait', ms })) },
  { weight: 4, arbitrary: fc.boolean().map((isTaken): Step => ({ kind: 'commit', isTaken })) },
);

describe('OffsetLedger against a naive model', () => {
  it('plans the same offsets after any history', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const { ledger } = setUp();
        const model = new NaiveLedger();
        const real: TrackedMessage[] = [];
        const next = [0, 0, 0];
        let nowMs = 0;
        for (const move of steps) {
          if (move.kind === 'wait') nowMs += move.ms;
          if (move.kind === 'assign') {
            ledger.assign(move.partitions);
            model.assign(move.partitions);
          }
          if (move.kind === 'hand-over') {
            const { partition, gap } = move;
            const offset = (next[partition]! += gap);
            const jobIds = Array.from({ length: move.jobs }, (_, job) => String(job));
            const message = new TrackedMessage(jobIds);
            const isTracked = ledger.track(ledger.generation, partition, BigInt(offset), message);
            expect(isTracked).toBe(model.owned.has(partition));
            if (!isTracked) continue;
            real.push(message);
            model.messages.push({
              generation: model.generation,
              partition,
              offset,
              undone: new Set(jobIds),
              claims: new Map(),
            });
          }
          if ((move.kind === 'claim' || move.kind === 'done') && real.length > 0) {
            const which = move.which % real.length;
            const job = String(move.job);
            const { undone, claims } = model.messages[which]!;
            if (move.kind === 'claim') {
              real[which]!.claimed(job, nowMs);
              if (undone.has(job) && !claims.has(job)) claims.set(job, nowMs);
            } else {
              real[which]!.done(job);
              undone.delete(job);
            }
          }
          if (move.kind === 'commit') {
            const plan = ledger.plan(nowMs);
            const expected = model.plan(nowMs);
            expect(
              Object.fromEntries(plan.offsets.map(({ partition, offset }) => [partition, Number(offset)])),
            ).toEqual(expected);
            if (!move.isTaken) continue;
            ledger.confirm(plan);
            for (const [partition, offset] of Object.entries(expected)) model.committed.set(Number(partition), offset);
          }
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
