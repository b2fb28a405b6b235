import { aClaimedJob, deferred, settle } from '@deadman/testing';
import type { Deferred } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { RunPool } from './run-pool.js';
import { Run } from './run.js';

const aRun = (): Run => new Run(aClaimedJob(), 0);
const someRuns = (count: number): readonly Run[] => Array.from({ length: count }, aRun);

describe('RunPool', () => {
  let started: Run[];
  let ends: Map<Run, Deferred<void>>;
  let freed: number;
  let pool: RunPool;

  beforeEach(() => {
    started = [];
    ends = new Map();
    freed = 0;
    pool = poolOf(2);
  });

  function poolOf(slots: number): RunPool {
    const execute = (run: Run): Promise<void> => {
      started.push(run);
      const end = deferred();
      ends.set(run, end);
      return end.promise;
    };
    return new RunPool(slots, execute, () => (freed += 1));
  }

  async function finish(run: Run): Promise<void> {
    ends.get(run)!.resolve();
    await settle();
  }

  it('starts as many as it has slots, oldest first, and the next one as soon as a slot is free', async () => {
    const [a, b, c, d] = someRuns(4) as [Run, Run, Run, Run];
    pool.add([a, b, c]);
    pool.add([d]);
    expect(started).toEqual([a, b]);
    expect([pool.active, pool.queued]).toEqual([2, 2]);
    await finish(b);
    expect(started).toEqual([a, b, c]);
    expect(freed).toBe(1);
  });

  it('gives back queued runs that are unwanted and never starts them', async () => {
    const [a, b, c, d] = someRuns(4) as [Run, Run, Run, Run];
    pool.add([a, b, c, d]);
    expect(pool.withdraw((run) => run === a || run === c)).toEqual([c]);
    await finish(a);
    await finish(b);
    expect(started).toEqual([a, b, d]);
  });

  it.each([1, 2, 3, 4, 5])(
    'loses no run whose answer changes with question %i, as that of one does that becomes late',
    (change) => {
      pool = poolOf(0);
      const runs = someRuns(3);
      pool.add(runs);
      let asked = 0;
      const withdrawn = pool.withdraw(() => ++asked > change);
      expect(withdrawn.length + pool.queued).toBe(runs.length);
    },
  );

  it('starts nothing after it was stopped, while what runs goes on to its end', async () => {
    const [a, b, c] = someRuns(3) as [Run, Run, Run];
    pool.add([a, b]);
    pool.stop();
    pool.add([c]);
    let isIdle = false;
    const idle = pool.idle().then(() => (isIdle = true));
    await finish(a);
    expect(isIdle).toBe(false);
    await finish(b);
    await idle;
    expect(started).toEqual([a, b]);
    expect(pool.withdraw(() => true)).toEqual([c]);
  });

  it('aborts what runs and leaves what is queued alone', () => {
    const [a, b, c] = someRuns(3) as [Run, Run, Run];
    pool.add([a, b, c]);
    pool.abortActive('shutdown');
    expect([a, b, c].map(({ abortedBy }) => abortedBy)).toEqual(['shutdown', 'shutdown', null]);
  });

  it('is idle at once when nothing runs', async () => {
    await expect(pool.idle()).resolves.toBeUndefined();
  });
});
