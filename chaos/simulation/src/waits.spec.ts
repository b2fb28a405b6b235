import { DEFAULT_LIMITS } from '@deadman/domain';
import type { RetryPolicy } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { waitAfterFailure, waitAfterLapse } from './waits.js';

const exponential = { kind: 'exponential', baseMs: 300, factor: 2, maxMs: 1_000 } as const;

describe('how long a job has to wait, as the simulation judges it', () => {
  it.each<[string, RetryPolicy, number, [number, number] | null]>([
    ['none at all', { kind: 'none' }, 1, null],
    ['the same each time', { kind: 'fixed', baseMs: 700 }, 3, [700, 700]],
    ['all of the backoff', { ...exponential, jitter: 'none' }, 2, [600, 600]],
    ['at most the longest', { ...exponential, jitter: 'none' }, 3, [1_000, 1_000]],
    ['half of it at least', { ...exponential, jitter: 'equal' }, 1, [150, 300]],
    ['none to all of it', { ...exponential, jitter: 'full' }, 1, [0, 300]],
    ['none once the budget is spent', { kind: 'fixed', baseMs: 700 }, 4, null],
  ])('%s', (_what, retry, failures, wait) => {
    const [leastMs, mostMs] = wait ?? [];
    expect(waitAfterFailure({ retry, failures, maxAttempts: 4 })).toEqual(wait === null ? null : { leastMs, mostMs });
  });

  it('doubles in quarantine with each further lapse in a row, up to its longest', () => {
    const waits = [6, 7, 8, 9, 20].map(
      (lapsesInRow) => waitAfterLapse({ lapsesInRow }, DEFAULT_LIMITS)?.mostMs ?? null,
    );
    expect(waits).toEqual([null, 1_000, 2_000, 4_000, 60_000]);
  });
});
