import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isInstalled } from './install.mjs';

let root;

const write = (file, packages) => writeFileSync(join(root, file), JSON.stringify({ packages }));
const lock = (packages) => write('package-lock.json', { '': {}, 'libs/a': { version: '0.0.0' }, ...packages });
const installed = (packages) => write('node_modules/.package-lock.json', packages);

const PG = { 'node_modules/pg': { version: '8.23.1', integrity: 'sha512-x' } };
const OTHER_PLATFORM = { 'node_modules/core-other': { version: '1.0.0', optional: true } };

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'deadman-install-'));
  mkdirSync(join(root, 'node_modules'));
});

afterEach(() => rmSync(root, { recursive: true }));

describe('install: needed or not', () => {
  it('is needed in a fresh clone', () => {
    lock(PG);
    expect(isInstalled(root)).toBe(false);
  });

  it('is not needed when everything is there, but for packages of other platforms', () => {
    lock({ ...PG, ...OTHER_PLATFORM });
    installed(PG);
    expect(isInstalled(root)).toBe(true);
  });

  it.each([
    ['a package was added', { ...PG, 'node_modules/zod': { version: '4.6.7' } }],
    ['a workspace was added', { ...PG, 'node_modules/@deadman/new': { resolved: 'libs/new', link: true } }],
    ['a version changed', { 'node_modules/pg': { version: '8.24.0', integrity: 'sha512-y' } }],
    ['a package was published anew', { 'node_modules/pg': { version: '8.23.1', integrity: 'sha512-y' } }],
  ])('is needed when %s', (_what, packages) => {
    lock(packages);
    installed(PG);
    expect(isInstalled(root)).toBe(false);
  });
});
