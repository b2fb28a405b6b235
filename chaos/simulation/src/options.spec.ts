import { describe, expect, it } from '@jest/globals';
import { parseOptions } from './options.js';

describe('the options of a run', () => {
  it.each([
    [['--schedules', '0'], '--schedules'],
    [['--threads', '0'], '--threads'],
    [['--fresh', '0'], '--fresh'],
    [['--replay='], '--replay'],
    [['--seed', '1e3'], '--seed'],
    [['--seed', '-1'], 'seed'],
    [['--fresh', '3', '--journal', 'file'], '--fresh'],
  ])('refuse what would run nothing, or something else than was meant: %j', (args, named) => {
    expect(() => parseOptions(args)).toThrow(named);
  });
});
