import { describe, expect, it } from '@jest/globals';
import { ABORT_REASONS, AbortReason } from '@deadman/domain';
import { abortReasonOf } from './abort-reason.js';

describe('abortReasonOf', () => {
  it('is null while the run goes on', () => {
    expect(abortReasonOf(new AbortController().signal)).toBeNull();
  });

  it.each(ABORT_REASONS)('tells %s', (code) => {
    expect(abortReasonOf(AbortSignal.abort(new AbortReason(code)))).toBe(code);
  });

  it('knows a reason that another copy of the package made', () => {
    expect(abortReasonOf(AbortSignal.abort({ name: 'AbortError', code: 'lease-lost' }))).toBe('lease-lost');
  });

  it.each([new Error('mine'), { code: 'constructor' }, 'shutdown', null])(
    'is null for a signal that something else aborted: %p',
    (reason) => {
      expect(abortReasonOf(AbortSignal.abort(reason))).toBeNull();
    },
  );
});
