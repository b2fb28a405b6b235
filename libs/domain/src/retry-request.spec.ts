import { describe, expect, it } from '@jest/globals';
import { DEFAULT_RETRY } from './retry-policy.js';
import { toRetryPolicy } from './retry-request.js';
import type { RetryRequest } from './retry-request.js';
import type { RetryPolicy } from './retry-policy.js';

describe('toRetryPolicy', () => {
  it.each<[RetryRequest, RetryPolicy]>([
    [{ kind: 'none' }, { kind: 'none' }],
    [{ kind: 'fixed' }, { kind: 'fixed', baseMs: 2_000 }],
    [
      { kind: 'fixed', baseSeconds: 0 },
      { kind: 'fixed', baseMs: 0 },
    ],
    [{ kind: 'exponential' }, DEFAULT_RETRY],
    [
      { kind: 'exponential', baseSeconds: 900 },
      { ...DEFAULT_RETRY, baseMs: 900_000, maxMs: 900_000 },
    ],
    [
      { kind: 'exponential', baseSeconds: 1, factor: 3, maxSeconds: 60, jitter: 'none' },
      { kind: 'exponential', baseMs: 1_000, factor: 3, maxMs: 60_000, jitter: 'none' },
    ],
  ])('%j asks for %j', (request, policy) => {
    expect(toRetryPolicy(request)).toEqual(policy);
  });
});
