import type { AttemptOutcome, AttemptRecord } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { duplicateRuns } from './duplicate-runs.js';

const AT = new Date('2026-01-01T00:00:00.000Z');

function history(
  ...ends: readonly (AttemptOutcome | readonly [AttemptOutcome, Partial<AttemptRecord>])[]
): AttemptRecord[] {
  return ends.map((end, index) => {
    const [outcome, overrides] = typeof end === 'string' ? [end, {}] : end;
    const isLapse = outcome === 'lapsed';
    return {
      jobId: 'job',
      attempt: index + 1,
      outcome,
      claimToken: `token ${index}`,
      workerId: 'worker',
      claimedAt: AT,
      startedAt: isLapse ? null : AT,
      finishedAt: AT,
      error: null,
      reclaimedBy: isLapse ? 'reaper' : null,
      reason: isLapse ? 'lease-lapsed' : null,
      ...overrides,
    };
  });
}

const unstarted = ['released', { startedAt: null, reason: 'not-started' }] as const;
const last = ['failed', { reason: 'exhausted' }] as const;

describe('duplicateRuns', () => {
  it.each([
    ['a job that nobody ran', history(), 0],
    ['a first success', history('succeeded'), 0],
    ['a success after failures and snoozes', history('failed', 'snoozed', 'failed', 'succeeded'), 0],
    ['a success after a release of a started run', history('released', 'succeeded'), 0],
    ['a success after a claim that never started', history(unstarted, unstarted, 'succeeded'), 0],
    ['a run under way after a failure', history('failed', 'running'), 0],
    ['a job that is out of failures', history('failed', 'failed', last), 0],
    ['a success after a lapse', history('lapsed', 'succeeded'), 1],
    ['a lapse that nothing has followed yet', history('failed', 'lapsed'), 0],
    ['lapses between failures to the last', history('lapsed', 'failed', 'lapsed', last), 2],
    ['a crash loop to its end', history('lapsed', 'lapsed', 'lapsed', ['lapsed', { reason: 'crash-loop' }]), 3],
  ])('%s', (_title, attempts, expected) => {
    expect(duplicateRuns(attempts)).toBe(expected);
  });

  it('counts a run that a person asked for as called for, and hides no lapse behind it', () => {
    expect(duplicateRuns(history(last, 'succeeded'), 1)).toBe(0);
    expect(duplicateRuns(history('lapsed', last, 'succeeded'), 1)).toBe(1);
    expect(duplicateRuns(history('cancelled', 'succeeded'), 1)).toBe(0);
  });
});
