import { describe, expect, it } from '@jest/globals';
import { MUTANTS } from '../../chaos/simulation/mutants/mutants.mjs';
import { asksForMutants, parseMutantOptions, UnusableOptions } from './mutant-options.mjs';

const [{ name }] = MUTANTS;

describe('a search for mutants', () => {
  it('is asked for by its option, wherever that stands', () => {
    const asked = [['--mutants'], ['--table', '--mutants'], [name, '--mutants'], ['--mutants=x']];
    expect(asked.map(asksForMutants)).toEqual([true, true, true, true]);
    expect([[], ['mutants'], ['--seed', '1'], ['--mutants', '--help']].map(asksForMutants)).not.toContain(true);
  });

  it('is for all when no name is given', () => {
    expect(parseMutantOptions(['--mutants'])).toEqual({ mutants: MUTANTS, isTable: false });
    expect(parseMutantOptions(['--table', '--mutants'])).toEqual({ mutants: MUTANTS, isTable: true });
  });

  it.each([
    [['--mutants', name, '--table'], true],
    [['--table', '--mutants', name], true],
    [[name, '--mutants'], false],
  ])('is for those whose names are given before or after: %j', (args, isTable) => {
    const { mutants, ...rest } = parseMutantOptions(args);
    expect(mutants).toEqual(MUTANTS.filter((mutant) => mutant.name.includes(name)));
    expect(rest).toEqual({ isTable });
  });

  it.each([
    [['--seed', '1', '--mutants'], '--seed'],
    [['--mutants', '--keep-nothing'], '--keep-nothing'],
    [['--mutants', '--verbose', '--table'], '--verbose'],
    [['--mutants=fence'], '--mutants=fence'],
    [['--mutants', name, 'the colour of the cat'], 'the colour of the cat'],
  ])('takes no other option, and no name that fits none: %j', (args, named) => {
    expect(() => parseMutantOptions(args)).toThrow(UnusableOptions);
    expect(() => parseMutantOptions(args)).toThrow(named);
  });
});
