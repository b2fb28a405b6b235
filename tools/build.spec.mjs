import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { copyAssets, removeStale } from './build.mjs';

let root;
const write = (name, content = '') => {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), content);
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'deadman-build-'));
});

afterEach(() => rmSync(root, { recursive: true }));

describe('build', () => {
  it('puts SQL and Lua files beside the compiled code, and nothing else', () => {
    write('src/migrations/0001_create_jobs.up.sql', 'CREATE');
    write('src/lease.lua', 'return 1');
    write('src/notes.txt');
    copyAssets(join(root, 'src'), join(root, 'dist'));
    expect(readFileSync(join(root, 'dist/migrations/0001_create_jobs.up.sql'), 'utf8')).toBe('CREATE');
    expect(readFileSync(join(root, 'dist/lease.lua'), 'utf8')).toBe('return 1');
    expect(existsSync(join(root, 'dist/notes.txt'))).toBe(false);
  });

  it('removes what came of sources that are gone, and keeps the rest', () => {
    write('src/kept.ts');
    write('src/kept.sql');
    const kept = ['kept.js', 'kept.js.map', 'kept.d.ts', 'kept.d.ts.map', 'kept.sql', '.tsbuildinfo'];
    const gone = ['gone.js', 'gone.js.map', 'gone.d.ts', 'gone.d.ts.map', 'deep/gone.sql', 'gone.lua'];
    for (const name of [...kept, ...gone]) write(`dist/${name}`);
    removeStale(join(root, 'src'), join(root, 'dist'));
    expect(kept.filter((name) => !existsSync(join(root, 'dist', name)))).toEqual([]);
    expect(gone.filter((name) => existsSync(join(root, 'dist', name)))).toEqual([]);
  });
});
