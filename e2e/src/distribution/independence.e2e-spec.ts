import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import type { SpawnSyncReturns } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { TEST_LIMIT_MS } from './installation.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** What a build needs besides the projects. */
const ROOT_FILES = ['package.json', 'package-lock.json', 'tsconfig.base.json', 'nx.json', 'tools'];

/** The four services, and what prepares their schema. Standalone is none of them: it puts them together. */
const SERVICES = ['api', 'worker', 'reaper', 'dead-letter-consumer', 'migrate'] as const;

/** What a service exits with that was told nothing (`docs/decisions/003-exit-codes.md`). */
const EXIT_CONFIG = 78;

describe('each service stands alone', () => {
  let copy: string;

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'deadman-alone-'));
    const options = { recursive: true, filter: (path: string): boolean => basename(path) !== 'node_modules' };
    for (const name of [...ROOT_FILES, 'libs']) cpSync(join(ROOT, name), join(copy, name), options);
    linkPackages(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  });

  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it.each(SERVICES)(
    '%s builds and starts in a copy of this repository without the folders of all others',
    (name) => {
      rmSync(join(copy, 'apps'), { recursive: true, force: true });
      const app = join('apps', name);
      const isSource = (path: string): boolean => !['node_modules', 'dist'].includes(basename(path));
      cpSync(join(ROOT, app), join(copy, app), { recursive: true, filter: isSource });
      const own = join(ROOT, app, 'node_modules');
      if (existsSync(own)) symlinkSync(own, join(copy, app, 'node_modules'));

      const built = run('tools/build.mjs', app);
      expect([built.status, built.stdout + built.stderr]).toEqual([0, '']);
      const started = run(join(app, 'dist', 'main.js'));
      expect([started.status, started.stderr]).toEqual([EXIT_CONFIG, expect.stringContaining('DATABASE_URL')]);
    },
    TEST_LIMIT_MS,
  );

  function run(...args: readonly string[]): SpawnSyncReturns<string> {
    const env = { PATH: process.env['PATH'] ?? '' };
    return spawnSync(process.execPath, args, { cwd: copy, env, encoding: 'utf8' });
  }
});

/** Packages of others as they are; our own lead to the copy, as they do to the projects in the original. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name === '@deadman') cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(from, name), join(to, name));
  }
}
