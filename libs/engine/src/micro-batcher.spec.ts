import { deferred, FakeClock, settle } from '@deadman/testing';
import type { Deferred } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { MicroBatcher } from './micro-batcher.js';
import type { Answer, BatchOptions } from './micro-batcher.js';

const OPTIONS: BatchOptions = { maxBatch: 4, maxWaiting: 10, lingerMs: 5, concurrency: 2 };

interface Flush {
  readonly items: readonly string[];
  readonly reply: Deferred<readonly Answer<string>[]>;
}

describe('MicroBatcher', () => {
  let clock: FakeClock;
  let flushes: Flush[];

  beforeEach(() => {
    clock = new FakeClock();
    flushes = [];
  });

  function batcherOf(options: Partial<BatchOptions> = {}): MicroBatcher<string, string> {
    const flush = (items: readonly string[]): Promise<readonly Answer<string>[]> => {
      const reply = deferred<readonly Answer<string>[]>();
      flushes.push({ items, reply });
      return reply.promise;
    };
    return new MicroBatcher(flush, { ...OPTIONS, ...options }, clock, (item) => item.length);
  }

  /** Answers the flush of this number as everybody hopes. */
  async function succeed(number: number): Promise<void> {
    const { items, reply } = flushes[number]!;
    reply.resolve(items.map((item) => ({ value: `${item}!` })));
    await settle();
  }

  const batches = (): readonly string[] => flushes.map(({ items }) => items.join(''));

  function addAll(batcher: MicroBatcher<string, string>, items: string): Promise<string>[] {
    return [...items].map((item) => batcher.add(item));
  }

  it('flushes a lone item at once, without any time passing', async () => {
    const answer = batcherOf().add('a');
    await settle();
    expect(batches()).toEqual(['a']);
    expect(clock.pendingTimers).toBe(0);
    await succeed(0);
    await expect(answer).resolves.toBe('a!');
  });

  it('flushes together what is added together, and answers each item with its own answer', async () => {
    const answers = addAll(batcherOf(), 'abc');
    await settle();
    expect(batches()).toEqual(['abc']);
    await succeed(0);
    await expect(Promise.all(answers)).resolves.toEqual(['a!', 'b!', 'c!']);
  });

  it('gathers what comes during a flush and sends it as soon as that flush ends', async () => {
    const batcher = batcherOf();
    void batcher.add('a');
    await settle();
    void addAll(batcher, 'bc');
    await settle();
    expect(batches()).toEqual(['a']);
    await succeed(0);
    expect(batches()).toEqual(['a', 'bc']);
  });

  it('lets an item wait for company no longer than the linger while another flush is under way', async () => {
    const batcher = batcherOf();
    void batcher.add('a');
    await settle();
    void batcher.add('b');
    await clock.advance(OPTIONS.lingerMs - 1);
    expect(batches()).toEqual(['a']);
    await clock.advance(1);
    expect(batches()).toEqual(['a', 'b']);
  });

  it('does not wait for a linger once a whole batch is there', async () => {
    const batcher = batcherOf();
    void batcher.add('a');
    await settle();
    void addAll(batcher, 'bcde');
    await settle();
    expect(batches()).toEqual(['a', 'bcde']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('never flushes more than a batch, and sends what did not fit beside it instead of behind it', async () => {
    void addAll(batcherOf(), 'abcdefgh');
    await settle();
    expect(batches()).toEqual(['abcd', 'efgh']);
  });

  it('never has more flushes under way than it may', async () => {
    const batcher = batcherOf({ maxWaiting: 100 });
    void addAll(batcher, 'abcdefghijklm');
    await clock.advance(1_000);
    expect(batches()).toEqual(['abcd', 'efgh']);
    await succeed(1);
    expect(batches()).toEqual(['abcd', 'efgh', 'ijkl']);
  });

  it('refuses as overloaded what finds too many waiting, and takes items again afterwards', async () => {
    const batcher = batcherOf({ concurrency: 1, maxWaiting: 2 });
    void batcher.add('a');
    await settle();
    const taken = addAll(batcher, 'bc');
    await expect(batcher.add('d')).rejects.toMatchObject({ code: 'overloaded', retryable: true });
    await succeed(0);
    void batcher.add('e');
    await succeed(1);
    await expect(Promise.all(taken)).resolves.toEqual(['b!', 'c!']);
    expect(batches()).toEqual(['a', 'bc', 'e']);
  });

  it('refuses as overloaded what would make too much weight wait, so that large items cannot fill the memory', async () => {
    const batcher = batcherOf({ concurrency: 1, maxWaitingWeight: 10 });
    void batcher.add('a');
    await settle();
    void batcher.add('eight888');
    await expect(batcher.add('abc')).rejects.toMatchObject({ code: 'overloaded' });
    void batcher.add('ok');
    await succeed(0);
    expect(flushes[1]!.items).toEqual(['eight888', 'ok']);
  });

  it('ends a batch before it gets too heavy, and still flushes an item that is too heavy by itself', async () => {
    const batcher = batcherOf({ concurrency: 1, maxBatchWeight: 5 });
    for (const item of ['aaa', 'bb', 'c', 'dddddddd']) void batcher.add(item);
    await settle();
    await succeed(0);
    await succeed(1);
    expect(flushes.map(({ items }) => items)).toEqual([['aaa', 'bb'], ['c'], ['dddddddd']]);
  });

  describe('that keeps its batches even', () => {
    const even = { keepsEven: true, concurrency: 1, maxBatch: 100, maxWaiting: 100 };

    it('leaves of a batch that is much larger than the one before it as many as make the two alike', async () => {
      const batcher = batcherOf(even);
      void addAll(batcher, 'ab');
      await settle();
      void addAll(batcher, 'cdefghijkl');
      await succeed(0);
      expect(batches()).toEqual(['ab', 'cdefgh']);
      await succeed(1);
      expect(batches()).toEqual(['ab', 'cdefgh', 'ijkl']);
    });

    it('comes to two groups of one size when callers that were answered ask again during the next flush', async () => {
      const batcher = batcherOf(even);
      void batcher.add('a');
      await settle();
      void addAll(batcher, 'bcdefghijklmnopqrst');
      for (let number = 0; number < 4; number += 1) {
        await succeed(number);
        void addAll(batcher, batches()[number]!);
      }
      expect(batches().map(({ length }) => length)).toEqual([1, 10, 10, 10, 10]);
    });

    it('does not split what is smaller than eight, comes after a pause, or is no larger than the one before', async () => {
      const batcher = batcherOf(even);
      void batcher.add('a');
      await settle();
      void addAll(batcher, 'bcdefgh');
      await succeed(0);
      expect(batches()).toEqual(['a', 'bcdefgh']);
      await succeed(1);
      void addAll(batcher, 'ijklmnopqrst');
      await settle();
      void addAll(batcher, 'uvwxyzABCDEF');
      await succeed(2);
      expect(batches()).toEqual(['a', 'bcdefgh', 'ijklmnopqrst', 'uvwxyzABCDEF']);
    });

    it('never exceeds a batch', async () => {
      const batcher = batcherOf({ ...even, maxBatch: 4 });
      void addAll(batcher, 'abc');
      await settle();
      void addAll(batcher, 'defghijklmno');
      await succeed(0);
      expect(batches()).toEqual(['abc', 'defg']);
    });
  });

  it('rejects only the items that were answered with an error', async () => {
    const answers = addAll(batcherOf(), 'ab');
    await settle();
    flushes[0]!.reply.resolve([{ error: new Error('not this one') }, { value: 'fine' }]);
    await expect(answers[0]).rejects.toThrow('not this one');
    await expect(answers[1]).resolves.toBe('fine');
  });

  it('rejects the whole batch when its flush throws, and works on', async () => {
    const batcher = batcherOf();
    const answers = addAll(batcher, 'ab');
    await settle();
    flushes[0]!.reply.reject(new Error('away'));
    const outcomes = await Promise.allSettled(answers);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = batcher.add('c');
    await settle();
    await succeed(1);
    await expect(next).resolves.toBe('c!');
  });

  it('rejects a batch that was not answered item by item, rather than mixing the answers up', async () => {
    const answers = addAll(batcherOf(), 'ab');
    await settle();
    flushes[0]!.reply.resolve([{ value: 'only one' }]);
    const outcomes = await Promise.allSettled(answers);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('takes nothing after close, and closes when everything that was taken is answered', async () => {
    const batcher = batcherOf({ concurrency: 1 });
    const first = batcher.add('a');
    await settle();
    const second = batcher.add('b');
    let isClosed = false;
    const closing = batcher.close().then(() => (isClosed = true));
    await expect(batcher.add('c')).rejects.toMatchObject({ code: 'shutting-down' });
    await succeed(0);
    expect(isClosed).toBe(false);
    await succeed(1);
    await closing;
    await expect(Promise.all([first, second])).resolves.toEqual(['a!', 'b!']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is idle at once when nothing was ever added', async () => {
    await expect(batcherOf().idle()).resolves.toBeUndefined();
  });
});
