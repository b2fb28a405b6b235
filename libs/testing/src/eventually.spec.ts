import { describe, expect, it } from '@jest/globals';
import { eventually } from './eventually.js';

describe('eventually', () => {
  it('tries again until the check passes, and returns its value', async () => {
    let tries = 0;
    const value = await eventually(
      () => {
        tries += 1;
        if (tries < 3) throw new Error('not yet');
        return 'there';
      },
      { everyMs: 1 },
    );
    expect([value, tries]).toEqual(['there', 3]);
  });

  it('throws what the last try threw once its time is up', async () => {
    const check = async (): Promise<never> => Promise.reject(new Error('never'));
    await expect(eventually(check, { withinMs: 5, everyMs: 1 })).rejects.toThrow('never');
  });
});
