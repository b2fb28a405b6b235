import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadHandlers } from './load-handlers.js';

const handler = (type: string): string => `{ type: '${type}', parse: (value) => ({ value }), run: () => null }`;
const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'handler-invalid', message: expect.stringContaining(message) });

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deadman-handlers-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Lays files into the folder, by their path in it. */
function lay(files: Readonly<Record<string, string | object>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

const load = async (named: string): Promise<readonly string[]> =>
  (await loadHandlers(named, folder)).map(({ kind, value }) => `${kind} ${(value as { type?: string }).type}`);

describe('loadHandlers', () => {
  it('imports every .js and .mjs file of a folder, by name, and passes over helpers', async () => {
    lay({
      'b.mjs': `export const b = ${handler('b')};`,
      'a.mjs': `export default [${handler('a1')}, ${handler('a2')}];`,
      'helper.mjs': `export const helper = () => null;`,
      'c.d.ts': 'not imported',
      'deeper/d.mjs': 'throw new Error("not imported")',
    });
    expect(await load('.')).toEqual(['handler a1', 'handler a2', 'handler b']);
  });

  it('imports a single file by its path, relative or absolute', async () => {
    lay({ 'mine.mjs': `export const one = ${handler('one')};` });
    expect(await load('mine.mjs')).toEqual(['handler one']);
    expect(await load(join(folder, 'mine.mjs'))).toEqual(['handler one']);
  });

  it('imports the entry of a folder that is a package', async () => {
    lay({
      'team/package.json': { type: 'module', exports: { '.': { types: './i.d.ts', import: './dist/main.js' } } },
      'team/dist/main.js': `export { one } from './one.js';`,
      'team/dist/one.js': `export const one = ${handler('one')};`,
      'team/loose.js': 'throw new Error("not imported")',
    });
    expect(await load('./team')).toEqual(['handler one']);
  });

  it('imports a CommonJS package', async () => {
    lay({
      'team/package.json': { main: 'main.cjs' },
      'team/main.cjs': `module.exports = { one: ${handler('one')}, two: ${handler('two')} };`,
    });
    expect(await load('./team')).toEqual(['handler one', 'handler two']);
  });

  it('finds an installed package by its name, also above the working folder', async () => {
    lay({
      'node_modules/@team/jobs/package.json': { type: 'module', main: 'main.js' },
      'node_modules/@team/jobs/main.js': `export default ${handler('one')};`,
      'deeper/x': '',
    });
    const found = await loadHandlers('@team/jobs', join(folder, 'deeper'));
    expect(found).toHaveLength(1);
  });

  it('takes an export under two names once', async () => {
    lay({ 'mine.mjs': `export const one = ${handler('one')}; export default one;` });
    expect(await load('mine.mjs')).toEqual(['handler one']);
  });

  it.each([
    ['nothing of that name', {}, 'nowhere', "no file, folder or installed package 'nowhere'"],
    ['an empty folder', { 'team/readme.md': '' }, 'team', 'has no .js or .mjs file'],
    ['an entry that was not built', { 'team/package.json': { main: 'dist/a.js' } }, 'team', 'Was it built?'],
    ['a broken package.json', { 'team/package.json': '{' }, 'team', 'package.json is not JSON'],
    [
      'a file that throws',
      { 'a.mjs': 'throw new TypeError("no key")' },
      'a.mjs',
      'cannot be loaded: TypeError: no key',
    ],
    ['a file without handlers', { 'a.mjs': 'export const x = 1;' }, 'a.mjs', 'a.mjs exports no handler'],
    ['a folder without handlers', { 'team/a.mjs': 'export const x = 1;' }, 'team', 'No file in team exports a handler'],
    [
      'a default export that is none',
      { 'a.mjs': 'export default () => 1;' },
      'a.mjs',
      'a.mjs, default export: this is',
    ],
  ])('says what is wrong with %s', async (_, files: Record<string, string | object>, named, message) => {
    lay(files);
    await expect(loadHandlers(named, folder)).rejects.toThrow(invalid(message));
  });

  it('gives up on a file whose top-level await never ends', async () => {
    lay({ 'a.mjs': 'await new Promise(() => {}); export const x = 1;' });
    const loading = loadHandlers('a.mjs', folder, { withinMs: 100 });
    await expect(loading).rejects.toThrow(invalid('a.mjs cannot be loaded: Error: it is not done after 0.1 s'));
  });
});
