import { describe, expect, it } from '@jest/globals';
import { isUuid } from './ids.js';

describe('isUuid', () => {
  it.each([
    ['0197b1c2-6f3a-7c11-9d55-0a5c2f6f7e10', true],
    ['00000000-0000-0000-0000-000000000000', true],
    ['0197B1C2-6F3A-7C11-9D55-0A5C2F6F7E10', false],
    ['0197b1c26f3a7c119d550a5c2f6f7e10', false],
    ['{0197b1c2-6f3a-7c11-9d55-0a5c2f6f7e10}', false],
    [' 0197b1c2-6f3a-7c11-9d55-0a5c2f6f7e10', false],
    ['0197b1c2-6f3a-7c11-9d55-0a5c2f6f7e10\n', false],
    ['0197b1c2-6f3a-7c11-9d55-0a5c2f6f7e1g', false],
    ["'; DROP TABLE jobs; --", false],
    ['', false],
  ])('%j: %s', (text, expected) => {
    expect(isUuid(text)).toBe(expected);
  });
});
