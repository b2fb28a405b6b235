import { describe, expect, it } from '@jest/globals';
import { packageEntry } from './package-entry.js';

describe('packageEntry', () => {
  it.each([
    ['main', { main: 'lib/a.js' }, 'lib/a.js'],
    ['exports as a path', { exports: './a.js', main: 'b.js' }, './a.js'],
    ['exports by subpath', { exports: { '.': './a.js', './b': './b.js' } }, './a.js'],
    ['exports by condition', { exports: { types: './a.d.ts', import: './a.js', require: './a.cjs' } }, './a.js'],
    ['conditions inside a subpath', { exports: { '.': { node: { import: './n.js' }, default: './a.js' } } }, './n.js'],
    ['the first condition that matches', { exports: { default: './first.js', import: './second.js' } }, './first.js'],
    ['a package that can only be required', { exports: { '.': { require: './a.cjs' } } }, './a.cjs'],
  ])('finds %s', (_, manifest, entry) => {
    expect(packageEntry(manifest)).toBe(entry);
  });

  it.each([
    ['names nothing', { name: 'x' }],
    ['exports subpaths only', { exports: { './b': './b.js' } }],
    ['exports only types', { exports: { types: './a.d.ts' } }],
    ['is no object', []],
    ['has a main that is no path', { main: 5 }],
  ])('is null for a manifest that %s', (_, manifest) => {
    expect(packageEntry(manifest)).toBeNull();
  });
});
