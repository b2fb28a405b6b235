import { describe, expect, it } from '@jest/globals';
import { DeadmanError, ERROR_CODES, isDeadmanError } from './errors.js';
import type { ErrorCode } from './errors.js';

describe('DeadmanError', () => {
  it.each(Object.keys(ERROR_CODES) as ErrorCode[])('%s takes title and retryability from the one table', (code) => {
    const error = new DeadmanError(code);
    expect(error).toMatchObject({ name: 'DeadmanError', code, retryable: ERROR_CODES[code].retryable });
    expect(error.message).toBe(ERROR_CODES[code].title);
  });

  it('keeps its detail and its cause', () => {
    const cause = new Error('ECONNREFUSED');
    const error = new DeadmanError('store-unavailable', 'The pool is empty', { cause });
    expect(error.message).toBe('The pool is empty');
    expect(error.cause).toBe(cause);
  });

  it('is matched by its code, never by anything that only has one', () => {
    expect(isDeadmanError(new DeadmanError('overloaded'))).toBe(true);
    expect(isDeadmanError(new DeadmanError('overloaded'), 'overloaded')).toBe(true);
    expect(isDeadmanError(new DeadmanError('overloaded'), 'unknown-outcome')).toBe(false);
    expect(isDeadmanError(Object.assign(new Error(), { code: 'overloaded' }))).toBe(false);
    expect(isDeadmanError(null)).toBe(false);
  });
});
