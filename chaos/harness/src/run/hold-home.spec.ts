import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OptionError } from '../options.js';
import { holdHome } from './hold-home.js';

/** No process has a number as high as this. */
const NOBODY = 2 ** 22 + 1;

describe('holdHome', () => {
  let folder: string;

  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'home-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('keeps a second run out while the first one lives', () => {
    holdHome(folder);
    expect(() => holdHome(folder)).toThrow(OptionError);
  });

  it('is not kept out by a run that was killed', () => {
    writeFileSync(join(folder, 'run.pid'), String(NOBODY));
    holdHome(folder);
    expect(readFileSync(join(folder, 'run.pid'), 'utf8')).toBe(String(process.pid));
  });
});
