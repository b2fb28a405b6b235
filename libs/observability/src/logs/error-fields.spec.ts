import { DeadmanError } from '@deadman/domain';
import { anAttemptError } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { toErrorFields } from './error-fields.js';

describe('toErrorFields', () => {
  it('tells name, message, code, stack and the chain of causes', () => {
    const root = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const fields = toErrorFields(new DeadmanError('store-unavailable', 'no database', { cause: root }));
    expect(fields).toMatchObject({
      name: 'DeadmanError',
      message: 'no database',
      code: 'store-unavailable',
      causes: [{ name: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' }],
    });
    expect(fields.stack).toContain('error-fields.spec');
  });

  it("reads the domain's record of an attempt's error", () => {
    const error = anAttemptError({
      name: 'GatewayTimeout',
      code: 'psp-timeout',
      causes: [{ name: 'E', message: 'm' }],
    });
    expect(toErrorFields(error)).toEqual({
      name: 'GatewayTimeout',
      message: 'it did not work',
      code: 'psp-timeout',
      causes: [{ name: 'E', message: 'm' }],
    });
  });

  it('ends a circle of causes', () => {
    const error = new Error('round');
    error.cause = error;
    expect(toErrorFields(error).causes).toHaveLength(5);
  });

  it.each([
    ['a string', 'a string'],
    [null, 'object null'],
    [undefined, 'undefined undefined'],
    [42n, 'bigint 42'],
  ])('says what %p was', (thrown, message) => {
    expect(toErrorFields(thrown)).toEqual({ name: 'NonError', message });
  });

  it('never throws, whatever it is given', () => {
    const hostile = {
      get message(): string {
        throw new Error('ha');
      },
    };
    const unprintable = Object.create(null) as object;
    expect(toErrorFields(hostile)).toMatchObject({ name: 'UnreadableError' });
    expect(toErrorFields(unprintable)).toMatchObject({ name: 'UnreadableError' });
  });
});
