import { describe, expect, it } from '@jest/globals';
import { InputError } from './input-error.js';
import { parseOptions, USAGE } from './options.js';

describe('the options of a run', () => {
  it.each([
    [['--schedules', '0'], '--schedules'],
    [['--threads', '0'], '--threads'],
    [['--threads', '257'], '--threads'],
    [['--fresh', '0'], '--fresh'],
    [['--replay='], '--replay'],
    [['--plan='], '--plan'],
    [['--journal='], '--journal'],
    [['--seed', '1e3'], '--seed'],
    [['--seed', '-1'], 'seed'],
    [['--seeds', '1'], '--seeds'],
    [['7'], '7'],
  ])('refuse what would run nothing, or something else than was meant: %j', (args, named) => {
    const parse = () => parseOptions(args);
    expect(parse).toThrow(InputError);
    expect(parse).toThrow(named);
  });

  it.each([
    [['--seed', '4294967296'], '4294967295'],
    [['--seed', '4294967297'], '4294967295'],
    [['--replay', '4294967296'], '4294967295'],
    [['--seed', '4294967295', '--schedules', '2'], 'past the last seed'],
    [['--schedules', '4294967296'], 'past the last seed'],
  ])('refuse a seed that would run again what another one has run: %j', (args, named) => {
    expect(() => parseOptions(args)).toThrow(named);
  });

  it('take the last seed there is', () => {
    expect(parseOptions(['--seed', '4294967295', '--schedules', '1'])).toMatchObject({ seed: 4_294_967_295 });
    expect(parseOptions(['--seed', '0', '--schedules', '4294967296'])).toMatchObject({ seed: 0 });
    expect(parseOptions(['--replay', '4294967295'])).toMatchObject({ replay: 4_294_967_295 });
  });

  it.each([
    [['--replay', '7', '--plan', 'file'], '--replay tells the story of one seed, and takes no --plan beside it'],
    [['--replay', '7', '--journal', 'file'], '--journal'],
    [['--replay', '7', '--seed', '8'], '--seed'],
    [['--replay', '7', '--fresh', '3'], '--fresh'],
    [['--plan', 'file', '--schedules', '3'], '--schedules'],
    [['--plan', 'file', '--verbose'], '--verbose'],
    [['--fresh', '3', '--journal', 'file'], '--journal'],
    [['--schedules', '3', '--fresh', '3'], '--schedules'],
    [['--fresh', '3', '--seed', '1'], '--seed'],
    [['--until-found', 'G1', '--journal', 'file'], '--until-found'],
  ])('refuse two that contradict each other, also when one says what is so anyway: %j', (args, named) => {
    expect(() => parseOptions(args)).toThrow(named);
  });

  it.each([
    [['--journal', 'file', '--seed', '2', '--schedules', '3', '--threads', '1', '--verbose']],
    [['--fresh', '3', '--threads', '1', '--verbose']],
    [['--replay', '7']],
    [['--plan', 'file']],
    [['--until-found', 'G1', '--seed', '2', '--schedules', '3', '--threads', '1']],
  ])('take %j, with what the tools add', (args) => {
    expect(() => parseOptions([...args, '--regressions', 'folder', '--code', 'abc'])).not.toThrow();
  });

  it('are what the usage says when none is given', () => {
    expect(parseOptions([])).toMatchObject({ schedules: 1_000, seed: 1, threads: 2, verbose: false, replay: null });
    expect(USAGE).toContain('how many seeds to run (1000)');
  });
});
