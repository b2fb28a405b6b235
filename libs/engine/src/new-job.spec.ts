import { DEFAULT_RETRY } from '@deadman/domain';
import type { NewJob } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { toSubmission } from './new-job.js';

const PARENT = { queue: 'orders', traceparent: null };
const submit = (job: Partial<NewJob>): ReturnType<typeof toSubmission> =>
  toSubmission({ type: 'mail.send', ...job }, 'id', PARENT);

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

describe('a job that a handler hands in', () => {
  it('has the defaults of the api, and the queue of its parent', () => {
    const { job, transition, fingerprint } = submit({});
    expect(job).toEqual({
      id: 'id',
      type: 'mail.send',
      queue: 'orders',
      payload: '{}',
      maxAttempts: 5,
      retry: DEFAULT_RETRY,
      timeoutMs: 900_000,
      tags: [],
      idempotencyKey: null,
      traceparent: null,
    });
    expect([transition.jobId, transition.decision.due, fingerprint]).toEqual(['id', { kind: 'now' }, null]);
  });

  it('can say everything that a client can say', () => {
    const { job } = submit({
      payload: null,
      queue: 'bulk',
      maxAttempts: 1_000,
      retry: { kind: 'exponential', baseSeconds: 60, factor: 1, maxSeconds: 60, jitter: 'none' },
      timeoutSeconds: 604_800,
      tags: ['tenant:acme', '😀'.repeat(256)],
    });
    expect(job).toMatchObject({ payload: 'null', queue: 'bulk', maxAttempts: 1_000, timeoutMs: 604_800_000 });
    expect(job.retry).toMatchObject({ baseMs: 60_000, factor: 1, maxMs: 60_000, jitter: 'none' });
  });

  it.each<[Partial<NewJob>, unknown]>([
    [{ delaySeconds: 0 }, { kind: 'now' }],
    [{ delaySeconds: 90 }, { kind: 'after', delayMs: 90_000 }],
    [{ runAt: new Date(7) }, { kind: 'at', at: new Date(7) }],
  ])('%j is due as it says', (job, due) => {
    expect(submit(job).transition.decision.due).toEqual(due);
  });

  it.each<[Partial<NewJob>, string]>([
    [{ type: 'Mail' }, 'a type'],
    [{ type: 'a'.repeat(129) }, 'a type'],
    [{ queue: 'a b' }, 'a queue'],
    [{ queue: 'a'.repeat(65) }, 'a queue'],
    [{ runAt: new Date(Number.NaN) }, 'runAt'],
    [{ runAt: new Date(), delaySeconds: 1 }, 'exclude'],
    [{ delaySeconds: -1 }, 'delaySeconds'],
    [{ delaySeconds: 1.5 }, 'delaySeconds'],
    [{ delaySeconds: 3_652 * 86_400 + 1 }, 'delaySeconds'],
    [{ maxAttempts: 0 }, 'maxAttempts'],
    [{ maxAttempts: 1_001 }, 'maxAttempts'],
    [{ timeoutSeconds: 0 }, 'timeoutSeconds'],
    [{ timeoutSeconds: Number.NaN }, 'timeoutSeconds'],
    [{ retry: { kind: 'often' } as never }, 'retry.kind'],
    [{ retry: { kind: 'fixed', baseSeconds: -1 } }, 'retry.baseSeconds'],
    [{ retry: { kind: 'exponential', factor: 0.5 } }, 'retry.factor'],
    [{ retry: { kind: 'exponential', factor: 1_001 } }, 'retry.factor'],
    [{ retry: { kind: 'exponential', baseSeconds: 9, maxSeconds: 8 } }, 'retry.maxSeconds'],
    [{ retry: { kind: 'exponential', jitter: 'some' as never } }, 'retry.jitter'],
    [{ tags: Array.from({ length: 21 }, () => 'a') }, 'at most 20 tags'],
    [{ tags: [''] }, 'a tag'],
    [{ tags: ['😀'.repeat(257)] }, 'a tag'],
    [{ tags: ['a\0b'] }, 'a tag'],
    [{ tags: ['\ud800'] }, 'a tag'],
    [{ payload: 1n }, 'BigInt'],
    [{ payload: () => 1 }, 'payload'],
    [{ payload: 'x'.repeat(262_143) }, '262145 bytes'],
    [{ payload: { text: 'a\0b' } }, 'NUL'],
    [{ payload: { '\ud800': 1 } }, 'lone surrogate'],
    [{ payload: nested(101) }, 'nested'],
  ])('%j cannot be handed in', (job, complaint) => {
    expect(() => submit(job)).toThrow(
      expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(complaint) }),
    );
  });

  it('is told all that is wrong at once', () => {
    expect(() => submit({ type: '', maxAttempts: 0, tags: [''] })).toThrow(/a type.*maxAttempts.*a tag/);
  });

  it.each([
    ['a payload at its limit', 'x'.repeat(262_142)],
    ['a hundred levels', nested(100)],
    ['brackets in texts', '['.repeat(200)],
    ['what looks like an escape', '\\u0000 \\\\ud800'],
    ['astral characters', '😀'],
  ])('may have %s', (_what, payload) => {
    expect(submit({ payload }).job.payload).toBe(JSON.stringify(payload));
  });
});
