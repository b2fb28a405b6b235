import { describe, expect, it } from '@jest/globals';
import { SCENARIOS } from './catalogue.js';
import { testedElsewhere } from './tested-elsewhere.js';

/** The scenarios of `faults.md`. 4 to 9 and so on are tests of the repository; the others are played. */
const EVERY_NUMBER = Array.from({ length: 32 }, (_, index) => index + 1);

describe('the scenarios', () => {
  it('have names of their own', () => {
    expect(new Set(SCENARIOS.map(({ name }) => name)).size).toBe(SCENARIOS.length);
  });

  it('are all there: each number is played, or injected by a test', () => {
    const played = SCENARIOS.flatMap(({ number }) => (number === null ? [] : [number]));
    const tested = testedElsewhere().map(({ number }) => Number(number));
    expect(EVERY_NUMBER.filter((number) => ![...played, ...tested].includes(number))).toEqual([]);
  });

  it('say how the tested ones are run alone', () => {
    expect(testedElsewhere().length).toBeGreaterThan(20);
    for (const { command } of testedElsewhere()) expect(command).toMatch(/^npm run jest -- \S+\.ts -t ".+"$/);
  });
});
