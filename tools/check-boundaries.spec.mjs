import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { findFaults } from './check-boundaries.mjs';

const roots = [];

/** A workspace of a domain, an engine, a store, a leases, a handlers, a testing lib and an app, all clean, with `files` on top. */
function workspace(files) {
  const root = mkdtempSync(join(tmpdir(), 'deadman-boundaries-'));
  roots.push(root);
  const all = {
    'package.json': { devDependencies: { '@jest/globals': '1', supertest: '1' } },
    ...project('libs/domain', 'type:domain', []),
    ...project('libs/engine', 'type:engine', ['libs/domain']),
    ...project('libs/store', 'type:infra', ['libs/domain'], { pg: '8' }),
    ...project('libs/leases', 'type:infra', ['libs/domain']),
    ...project('libs/handlers', 'type:handlers', ['libs/domain']),
    ...project('libs/testing', 'type:testing', ['libs/domain', 'libs/store']),
    ...project('apps/api', 'type:app', ['libs/domain', 'libs/engine', 'libs/store'], { zod: '4' }),
    ...files,
  };
  for (const [name, content] of Object.entries(all)) {
    const file = join(root, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return root;
}

function project(folder, tag, siblings, packages = {}) {
  const dependencies = Object.fromEntries(siblings.map((path) => [`@deadman/${path.split('/')[1]}`, '0.0.0']));
  return {
    [`${folder}/package.json`]: {
      name: `@deadman/${folder.split('/')[1]}`,
      dependencies: { ...dependencies, ...packages },
      nx: { tags: [tag] },
    },
    [`${folder}/tsconfig.json`]: { references: siblings.map((path) => ({ path: `../../${path}` })) },
    [`${folder}/src/index.ts`]: "export { thing } from './thing.js';",
    [`${folder}/src/thing.ts`]: 'export const thing = 1;',
  };
}

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true });
});

describe('boundaries: what is forbidden is found', () => {
  it.each([
    [
      'a relative import that leaves the project',
      'libs/engine/src/a.ts',
      "import '../../domain/src/thing.js';",
      /leaves/,
    ],
    ['one by a dynamic import', 'libs/engine/src/a.ts', "await import('../../domain/src/thing.js');", /leaves/],
    ['one by an import in a type', 'libs/engine/src/a.ts', "type A = import('../../domain/src/thing.js').A;", /leaves/],
    ['one by an export', 'libs/engine/src/a.ts', "export { a } from '../../domain/src/thing.js';", /leaves/],
    ['one in a spec', 'libs/engine/src/a.spec.ts', "import '../../domain/src/thing.js';", /leaves/],
    ['an undeclared package', 'libs/store/src/a.ts', "import 'lodash';", /not declared/],
    ['a tool of the workspace in production', 'apps/api/src/a.ts', "import 'supertest';", /not declared/],
    ['an undeclared project', 'apps/api/src/a.ts', "import '@deadman/leases';", /not declared/],
    [
      'an adapter that uses another',
      'libs/leases/src/a.ts',
      "import '@deadman/store';",
      /type:infra may not use type:infra/,
    ],
    ['an engine that uses an adapter', 'libs/engine/src/a.ts', "import '@deadman/store';", /may not use/],
    [
      'a type import across a boundary',
      'libs/engine/src/a.ts',
      "import type { A } from '@deadman/store';",
      /may not use/,
    ],
    ['test code in production', 'apps/api/src/a.ts', "import '@deadman/testing';", /may not use type:testing/],
    ['an app in a spec of a lib', 'libs/store/src/a.spec.ts', "import '@deadman/api';", /may not use type:app/],
    ['an app in an end-to-end test', 'e2e/src/a.e2e-spec.ts', "import '@deadman/api';", /may not use type:app/],
    ['an inside of a lib in one', 'e2e/src/a.e2e-spec.ts', "import '../../libs/store/src/thing.js';", /leaves/],
    ['an unknown package in a benchmark', 'bench/src/a.ts', "import 'lodash';", /not declared/],
    ['its own index by path', 'libs/store/src/a.ts', "import './index.js';", /own index/],
    ['its own index by folder', 'libs/store/src/deep/a.ts', "import '..';", /own index/],
    ['its own index by name', 'libs/store/src/a.ts', "import '@deadman/store';", /own index/],
    ['an export of everything', 'libs/store/src/a.ts', "export * from './thing.js';", /export \*/],
    ['a nested index', 'libs/store/src/memory/index.ts', 'export {};', /one index/],
    ['a package in the domain', 'libs/domain/src/a.ts', "import 'zod';", /imports nothing/],
    ['a module of Node in the domain', 'libs/domain/src/a.ts', "import 'node:path';", /imports nothing/],
    ['one without its prefix', 'libs/domain/src/a.ts', "import 'path';", /imports nothing/],
    ['a driver in an app', 'apps/api/src/a.ts', "import 'pg';", /driver/],
    ['timers of Node in the engine', 'libs/engine/src/a.ts', "import 'node:timers/promises';", /come from ports/],
    ['the clock', 'libs/engine/src/a.ts', 'export const a = () => Date.now();', /Date\.now/],
    ['the clock by a bracket', 'libs/engine/src/a.ts', "export const a = () => Date['now']();", /Date\.now/],
    ['the present', 'libs/domain/src/a.ts', 'export const a = () => new Date();', /new Date/],
    ['the dice', 'libs/domain/src/a.ts', 'export const a = () => Math.random();', /Math\.random/],
    ['a timer', 'libs/engine/src/a.ts', 'setTimeout(() => 1, 10);', /setTimeout/],
    ['a timer handed on', 'libs/engine/src/a.ts', 'export const a = { later: setInterval };', /setInterval/],
    ['a timer by way of globalThis', 'libs/engine/src/a.ts', "globalThis['setTimeout'](() => 1);", /globalThis/],
    ['a timer in a signal', 'libs/engine/src/a.ts', 'AbortSignal.timeout(10);', /AbortSignal\.timeout/],
    ['ids by chance', 'libs/domain/src/a.ts', 'export const a = () => crypto.randomUUID();', /crypto/],
    ...[
      ['the clock under another name', 'const D = Date; D.now();', 'Date'],
      ['the clock taken apart', 'const { now } = Date;', 'Date'],
      ['the clock cast', '(Date as any).now();', 'Date.now'],
      ['the clock asserted', 'Date!.now();', 'Date.now'],
      ['the clock in parentheses', '(Date).now();', 'Date.now'],
      ['the clock by an optional chain', 'Date?.now();', 'Date.now'],
      ['the clock by a template', 'Date[`now`]();', 'Date.now'],
      ['the clock by a computed name', "Date['n' + 'ow']();", 'Date'],
      ['the clock by reflection', "Reflect.get(Date, 'now');", 'Date'],
      ['the clock exported', 'export { Date };', 'Date'],
      ['the clock inherited', 'class D extends Date {}', 'Date'],
      ['the present as a text', 'Date();', 'Date'],
      ['the present in parentheses', 'new (Date)();', 'new Date()'],
      ['the present by no arguments spread', 'new Date(...[]);', 'new Date()'],
      ['the clock by its prototype', "Date.prototype['constructor'].now();", 'Date.prototype'],
      ['the dice taken apart', 'const { random } = Math;', 'Math'],
      ['a timer in a signal taken apart', 'const { timeout } = AbortSignal;', 'AbortSignal'],
      ['a timer by way of global', 'global.setTimeout(() => 1);', 'global'],
      ['the clock of the process', 'process.uptime();', 'process'],
    ].map(([what, content, name]) => [
      what,
      'libs/engine/src/a.ts',
      content,
      new RegExp(`uses ${name.replace(/\W/g, '\\$&')}:`),
    ]),
    ['the clock of the process as a module', 'libs/engine/src/a.ts', "import 'node:process';", /come from ports/],
    ['a way to any module', 'libs/engine/src/a.ts', "import 'node:module';", /come from ports/],
    ['bytes of Node in the domain', 'libs/domain/src/a.ts', "Buffer.from('');", /uses Buffer/],
    ['output in the domain', 'libs/domain/src/a.ts', "console.log('');", /uses console/],
    ['the network in the domain', 'libs/domain/src/a.ts', "await fetch('');", /uses fetch/],
    ['the environment in the domain', 'libs/domain/src/a.ts', 'process.env.A;', /uses process/],
    ['a module of Node in a template', 'libs/domain/src/a.ts', 'await import(`node:fs`);', /imports nothing/],
    ['a driver by a name', 'apps/api/src/a.ts', "const m = 'pg'; await import(m);", /import\(\)/],
    ['a module required by a name', 'libs/store/src/a.ts', "const m = 'x'; require(m);", /import\(\)/],
    ['an export of everything under a name', 'libs/store/src/a.ts', "export * as a from './thing.js';", /export \*/],
    ...['js', 'mjs', 'cjs', 'jsx', 'mts', 'cts', 'tsx'].map((ending) => [
      `code in a .${ending} file`,
      `libs/engine/src/a.${ending}`,
      'export const a = 1;',
      /does not end in \.ts/,
    ]),
    ['code in a .js file of the end-to-end tests', 'e2e/src/a.js', 'export const a = 1;', /does not end in \.ts/],
    ['one in a class', 'libs/engine/src/a.ts', 'class A { b = 1; c() { return Date.now(); } }', /Date\.now/],
    ['one as a default', 'libs/engine/src/a.ts', 'export const a = (now = Date.now()) => now;', /Date\.now/],
  ])('%s', (_what, file, content, fault) => {
    expect(findFaults(workspace({ [file]: content }))).toEqual([expect.stringMatching(fault)]);
  });

  it('a service that uses another', () => {
    const worker = project('apps/worker', 'type:app', ['libs/domain', 'apps/api']);
    expect(findFaults(workspace(worker))).toEqual(['apps/worker: type:app may not depend on @deadman/api']);
  });

  it('a dependency that the tag does not allow, before anything imports it', () => {
    const root = workspace(project('libs/leases', 'type:infra', ['libs/domain', 'libs/store']));
    expect(findFaults(root)).toEqual(['libs/leases: type:infra may not depend on @deadman/store']);
  });

  it('a project without a known tag', () => {
    const root = workspace(project('libs/new', 'type:whatever', []));
    expect(findFaults(root)).toEqual(['libs/new: needs exactly one known type tag, has "type:whatever"']);
  });

  it('build references that are not the dependencies', () => {
    const root = workspace({ 'libs/engine/tsconfig.json': { references: [] } });
    expect(findFaults(root)).toEqual([expect.stringMatching(/references \[\], package\.json means \[libs\/domain\]/)]);
  });
});

describe('boundaries: what is allowed passes', () => {
  it.each([
    ['a clean workspace', 'libs/domain/src/a.ts', "import { thing } from './thing.js'; export const a = thing;"],
    ['a declared project', 'libs/engine/src/a.ts', "import { thing } from '@deadman/domain'; export const a = thing;"],
    ['a declared package', 'libs/store/src/a.ts', "import { Client } from 'pg'; export const a = Client;"],
    ['a module of Node in an adapter', 'libs/store/src/a.ts', "import 'node:timers/promises';"],
    ['a moment that was handed in', 'libs/engine/src/a.ts', 'export const a = (at: number) => new Date(at);'],
    [
      'a moment that was handed in, cast',
      'libs/engine/src/a.ts',
      'export const a = (at: any) => new (Date as any)(at);',
    ],
    ['a question for a moment', 'libs/engine/src/a.ts', 'export const a = (at: unknown) => at instanceof Date;'],
    ['the calendar and arithmetic', 'libs/engine/src/a.ts', 'export const a = Math.max(Date.UTC(2000), Math["PI"]);'],
    [
      'moments and signals in types',
      'libs/engine/src/a.ts',
      'export class A<T extends Date> implements B<Date> { a = new Map<Date, Date>(); b = (c as Date).d!; e?: typeof Date; }',
    ],
    [
      'a key that has the name of the clock, taken apart',
      'libs/engine/src/a.ts',
      'export const { Date: a } = { b: 1 };',
    ],
    [
      'handlers, whose module only the user knows',
      'libs/handlers/src/load-handlers.ts',
      'await import(process.argv[2]);',
    ],
    ['a port that has the name of a timer', 'libs/engine/src/a.ts', 'export const a = (c: C) => c.setTimeout(1);'],
    [
      'a member that has the name of a global',
      'libs/engine/src/a.ts',
      'export class A { performance() { return 1; } }',
    ],
    ['a key that has the name of a global', 'libs/engine/src/a.ts', 'export const a = { crypto: 1 };'],
    ['words in a comment or a text', 'libs/domain/src/a.ts', "// Date.now()\nexport const a = 'setTimeout, crypto';"],
    ['the clock in an adapter', 'libs/store/src/a.ts', 'export const a = () => Date.now();'],
    ['a timer in a spec of the engine', 'libs/engine/src/a.spec.ts', 'setTimeout(() => 1, 10);'],
    [
      'adapters and test code in a spec',
      'libs/engine/src/a.spec.ts',
      "import '@deadman/store';import '@deadman/testing';",
    ],
    ['tools of the workspace in a spec', 'apps/api/src/a.int-spec.ts', "import 'supertest';"],
    ['libs and tools in an end-to-end test', 'e2e/src/a.e2e-spec.ts', "import '@deadman/store';import 'supertest';"],
    ['the outside of the lib in its spec', 'libs/store/src/a.spec.ts', "import './index.js';"],
  ])('%s', (_what, file, content) => {
    expect(findFaults(workspace({ [file]: content }))).toEqual([]);
  });
});
