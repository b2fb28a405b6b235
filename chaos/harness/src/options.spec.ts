import { describe, expect, it } from '@jest/globals';
import { OptionError, parseOptions } from './options.js';

describe('the options of npm run chaos', () => {
  it('are those of the gate when none is given', () => {
    expect(parseOptions([])).toMatchObject({
      jobs: 100_000,
      workers: 4,
      slots: 64,
      killRate: 0.3,
      seeds: [1],
      ttlMs: 5_000,
      timeScale: 1,
      isTimed: true,
      scenarios: ['kill-storm'],
    });
  });

  it('take several seeds and several scenarios', () => {
    const { seeds, scenarios } = parseOptions(['--seeds', '1,2,3', '--scenario', 'poison,zombie']);
    expect([seeds, scenarios]).toEqual([
      [1, 2, 3],
      ['poison', 'zombie'],
    ]);
  });

  it.each([
    ['--jobs', '0'],
    ['--jobs', '1.5'],
    ['--seed', 'x'],
    ['--ttl', '1'],
    ['--kill-rate', '0.95'],
    ['--time-scale', '0'],
    ['--time-scale', ''],
  ])('refuse %s %s, with a sentence', (...args) => {
    expect(() => parseOptions(args)).toThrow(OptionError);
  });

  it('refuse what they do not know', () => {
    expect(() => parseOptions(['--kilrate', '0.3'])).toThrow(OptionError);
  });
});
