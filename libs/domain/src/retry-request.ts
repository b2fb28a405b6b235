import { DEFAULT_RETRY } from './retry-policy.js';
import type { Jitter, RetryPolicy } from './retry-policy.js';

/** A retry policy as those who hand in jobs write it, in seconds. Absent members take the defaults. */
export type RetryRequest =
  | { readonly kind: 'none' }
  | { readonly kind: 'fixed'; readonly baseSeconds?: number | undefined }
  | {
      readonly kind: 'exponential';
      readonly baseSeconds?: number | undefined;
      readonly factor?: number | undefined;
      /** Absent: 600, or `baseSeconds` when that is more. */
      readonly maxSeconds?: number | undefined;
      readonly jitter?: Jitter | undefined;
    };

/** The policy that a valid request asks for. */
export function toRetryPolicy(request: RetryRequest): RetryPolicy {
  if (request.kind === 'none') return { kind: 'none' };
  const baseMs = request.baseSeconds === undefined ? DEFAULT_RETRY.baseMs : request.baseSeconds * 1_000;
  if (request.kind === 'fixed') return { kind: 'fixed', baseMs };
  const { factor = DEFAULT_RETRY.factor, maxSeconds, jitter = DEFAULT_RETRY.jitter } = request;
  const maxMs = maxSeconds === undefined ? Math.max(DEFAULT_RETRY.maxMs, baseMs) : maxSeconds * 1_000;
  return { kind: 'exponential', baseMs, factor, maxMs, jitter };
}
