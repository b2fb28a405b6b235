import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Dice } from './dice.js';
import { planFaults } from './fault-plan.js';
import { InputError } from './input-error.js';
import { keepRegression, readRegression, readRegressions } from './regression.js';

const REGRESSION = { seed: 7, check: '§7 doubt', note: 'was wrong', plan: planFaults(new Dice(7)) };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deadman-regressions-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a regression', () => {
  it('is read as it was kept, in a folder that need not be there', () => {
    const file = keepRegression(join(folder, 'new'), REGRESSION);
    expect(basename(file)).toBe('7-7-doubt.json');
    expect(readRegression(file)).toEqual(REGRESSION);
    expect([...readRegressions(join(folder, 'new'))]).toEqual([['7-7-doubt.json', REGRESSION]]);
  });

  it('never takes the place of one that was kept before', () => {
    const [first, second] = [REGRESSION, { ...REGRESSION, plan: { ...REGRESSION.plan, jobs: [] } }];
    const files = [first, second].map((regression) => keepRegression(folder, regression));
    expect(files.map((file) => basename(file))).toEqual(['7-7-doubt.json', '7-7-doubt-2.json']);
    expect(files.map(readRegression)).toEqual([first, second]);
  });

  it('is kept once, however often it is found', () => {
    const files = [1, 2].map(() => keepRegression(folder, { ...REGRESSION }));
    expect(new Set(files).size).toBe(1);
    expect(readRegressions(folder).size).toBe(1);
  });

  it.each(['not JSON', '{}', 'null'])('that is none is refused with its name: %s', (text) => {
    const file = join(folder, 'plan.json');
    writeFileSync(file, text);
    expect(() => readRegression(file)).toThrow(file);
    expect(() => readRegression(join(folder, 'none.json'))).toThrow(InputError);
  });

  it('that cannot be run is refused with its name and the places in it', () => {
    const file = join(folder, 'plan.json');
    writeFileSync(file, JSON.stringify({ ...REGRESSION, plan: { ...REGRESSION.plan, workers: 0, faults: undefined } }));
    expect(() => readRegression(file)).toThrow(InputError);
    for (const named of [file, 'plan.workers', 'plan.faults']) expect(() => readRegression(file)).toThrow(named);
  });

  it('that is kept here can be run', () => {
    const kept = join(import.meta.dirname, '..', 'regressions');
    expect(readRegressions(kept).size).toBe(readdirSync(kept).length);
  });

  it('is one of none where there is no folder, or nothing kept in it', () => {
    writeFileSync(join(folder, 'README.md'), 'not a plan');
    expect(readRegressions(folder).size).toBe(0);
    expect(readRegressions(join(folder, 'none')).size).toBe(0);
  });
});
