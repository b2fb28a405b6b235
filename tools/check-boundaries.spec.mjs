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
    ['a contract suite in production', 'libs/engine/src/a.ts', "import './b.contract.js';", /needs no spec/],
    ['a spec in production', 'libs/store/src/a.ts', "export { a } from './b.int-spec.js';", /needs no spec/],
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
      ['the clock by a computed name', "Date['n' + 'ow']();", 'Date.now'],
      ['the clock by a name that only the run knows', "export const a = (n: any) => Date[n + 'ow']();", 'Date'],
      ['the time zone in a moment of parts', 'new Date(2000, 0);', 'new Date(,)'],
      ['the same by arguments spread', 'export const a = (b: [any]) => new Date(...b, 1);', 'new Date(,)'],
      ['the clock by reflection', "Reflect.get(Date, 'now');", 'Reflect', 'Date'],
      ['the clock exported', 'export { Date };', 'Date'],
      ['the clock inherited', 'class D extends Date {}', 'Date'],
      ['the present as a text', 'Date();', 'Date'],
      ['the present in parentheses', 'new (Date)();', 'new Date()'],
      ['the present by no arguments spread', 'new Date(...[]);', 'new Date()'],
      ['the clock by its prototype', "Date.prototype['constructor'].now();", 'Date.prototype', 'constructor'],
      ['the dice taken apart', 'const { random } = Math;', 'Math'],
      ['a timer in a signal taken apart', 'const { timeout } = AbortSignal;', 'AbortSignal'],
      ['a timer by way of global', 'global.setTimeout(() => 1);', 'global'],
      ['the clock of the process', 'process.uptime();', 'process'],
      ['the clock in an event', "new Event('x').timeStamp;", 'Event', 'timeStamp'],
      [
        'the clock in the event of a signal',
        'export const a = (s: AbortSignal) => s.addEventListener("abort", (e) => e.timeStamp);',
        'timeStamp',
      ],
      [
        'the same, taken apart',
        'export const a = (s: AbortSignal) => { s.onabort = ({ timeStamp }) => timeStamp; };',
        'timeStamp',
      ],
      ['the clock in a format', 'Intl.DateTimeFormat().format();', 'Intl'],
      ['the clock of the next Node', 'Temporal.Now.instant();', 'Temporal'],
      ['a wait that blocks', 'export const a = (b: any) => Atomics.wait(b, 0, 0, 9);', 'Atomics'],
      ['a turn of the event loop', 'new MessageChannel().port1.postMessage(1);', 'MessageChannel'],
      ['the moment of a collection', 'new FinalizationRegistry(() => 1);', 'FinalizationRegistry'],
      ['a collection asked for', 'new WeakRef({}).deref();', 'WeakRef'],
      ['the network', "await fetch('');", 'fetch'],
      ['what a module is told', 'import.meta.resolve("x");', 'import.meta'],
      ['code of a text', "eval('Date.now()');", 'eval'],
      ['code of a text, indirectly', "(0, eval)('Date.now()');", 'eval'],
      ['a function of a text', "new Function('return Date.now()')();", 'Function'],
      ['a function of a text, without new', "Function('return Date.now()')();", 'Function'],
      ['the same by a constructor', "(() => {}).constructor('return Date.now()')();", 'constructor'],
      ['the same by a bracket', "(() => {})['constructor']('return Date.now()')();", 'constructor'],
      ['the same by an escape', "(() => {}).\\u0063onstructor('return Date.now()')();", 'constructor'],
      ['the same by a name for it', "const c = 'constructor'; (() => {})[c]('');", 'constructor'],
      ['the same taken apart', 'const { constructor: F } = () => {};', 'constructor'],
      ['the same in one word', 'const { constructor } = () => {};', 'constructor'],
      ['the same put together', "(() => {})['construct' + 'or']('')();", 'constructor'],
      ['the same of three parts', "(() => {})['con' + ('str' + 'uctor')]('')();", 'constructor'],
      ['the same in a template', "(() => {})[`con${'struct'}or`]('')();", 'constructor'],
      ['the same in a template among others', '(() => {})[`con${`struct${"o" + `r`}`}`]("")();', 'constructor'],
      ['the same put together under a name', "const c = 'construct' + 'or'; (() => {})[c]('');", 'constructor'],
      ['a prototype taken apart', 'let p: any; ({ __proto__: p } = () => 1);', '__proto__'],
      ['a prototype by a text', "const { ['__proto__']: p } = () => 1;", '__proto__'],
      ['a prototype looked up', "({} as any).__lookupGetter__('a');", '__lookupGetter__'],
      ['the functions on the stack', 'Error.prepareStackTrace = (_, frames) => frames;', 'prepareStackTrace'],
      ['the stack of something else', 'Error.captureStackTrace({});', 'captureStackTrace'],
      ['the order of a language', 'export const a = (b: string) => b.localeCompare("c");', 'localeCompare'],
      ['a number in a language', 'export const a = (b: number) => b.toLocaleString();', 'toLocaleString'],
      ['letters of a language', 'export const a = (b: string) => b.toLocaleLowerCase();', 'toLocaleLowerCase'],
      ['a day in a language', 'export const a = (at: Date) => at.toLocaleDateString();', 'toLocaleDateString'],
      ['a time of day in a language', 'export const a = (at: Date) => at.toLocaleTimeString();', 'toLocaleTimeString'],
      ['a day in the time zone', 'export const a = (at: Date) => at.toDateString();', 'toDateString'],
      ['a time of day in the time zone', 'export const a = (at: Date) => at.toTimeString();', 'toTimeString'],
      ['the hour in the time zone', 'export const a = (at: Date) => at.getHours();', 'getHours'],
      ['the day of the week in it, by a bracket', "export const a = (at: Date) => at['getDay']();", 'getDay'],
      ['the hour in it, set', 'export const a = (at: Date) => at.setHours(1);', 'setHours'],
      ['the time zone', 'export const a = (at: Date) => at.getTimezoneOffset();', 'getTimezoneOffset'],
      ['the same of a parent', 'class A { b = super.constructor; }', 'constructor'],
      ['the same by reflection', "Reflect.get(() => 1, 'const' + 'ructor');", 'Reflect', 'constructor'],
      ['the same by a prototype', 'Object.getPrototypeOf(() => 1);', 'Object.getPrototypeOf'],
      ['reflection handed on', 'export const a = Object;', 'Object'],
      ['a global by way of self', 'self.setTimeout(() => 1);', 'self'],
      ['a global asked for its type', 'typeof fetch;', 'fetch'],
      ['a global as a tag', 'fetch`x`;', 'fetch'],
      ['a global as a short key', 'export const a = { fetch };', 'fetch'],
      ['a global as a computed key', 'export const a = { [fetch]: 1 };', 'fetch'],
      ['a global set', '[fetch] = [1];', 'fetch'],
      ['a global cast', '(fetch as any)!();', 'fetch'],
      ['a global under another name', 'import f = fetch.f; f();', 'fetch'],
      ['a global before a parameter', 'export const a = (b = fetch) => { var fetch = 1; };', 'fetch'],
      ['a global beside a local', '{ const fetch = 1; fetch; } fetch();', 'fetch'],
      ['a global in a method of its name', 'class A { fetch() { fetch(); } }', 'fetch'],
      ['a global outside a function of its name', 'const a = function fetch() {}; fetch();', 'fetch'],
      ['a global declared', 'declare const fetch: any; fetch();', 'fetch'],
      ['a global declared as a function', 'declare function fetch(): any; fetch();', 'fetch'],
      ['a global declared as a class', 'declare class WeakRef { constructor(a: {}) } new WeakRef({});', 'WeakRef'],
      ['a global declared as a namespace', 'declare namespace Intl { const a: any } Intl.a;', 'Intl'],
      ['a global declared for all', 'declare global { var fetch: any } fetch(); export {};', 'fetch'],
      ['a name that nobody declares', 'nowhere();', 'nowhere'],
      ['a global behind an interface', 'interface fetch {} fetch();', 'fetch'],
      ['a global behind a type', 'type fetch = 1; fetch();', 'fetch'],
      ['a global behind a parameter of a type', 'export function a<fetch>(b: fetch) { fetch(b); }', 'fetch'],
      ['a global behind an imported type', "import type { fetch } from './thing.js'; fetch();", 'fetch'],
      ['a global behind one among others', "import { type fetch, thing } from './thing.js'; fetch(thing);", 'fetch'],
    ].map(([what, content, ...names]) => [
      what,
      'libs/engine/src/a.ts',
      content,
      ...names.map((name) => new RegExp(`uses ${name.replace(/\W/g, '\\$&')}:`)),
    ]),
    ...['crypto', 'fs', 'node:fs', 'node:os', 'node:perf_hooks', 'node:vm', 'node:worker_threads', 'node:util'].map(
      (name) => [`the module ${name} in the engine`, 'libs/engine/src/a.ts', `import '${name}';`, /come from ports/],
    ),
    ['a module written in place', 'libs/engine/src/a.ts', "await import('data:text/javascript,1');", /come from ports/],
    ['one for its types', 'libs/engine/src/a.ts', "import type { A } from 'node:events';", /come from ports/],
    ['one by a dynamic import', 'libs/engine/src/a.ts', "await import('node:fs');", /come from ports/],
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
    ...['./a.json', './a.node', './a.wasm', './a.mjs', './a.cjs', './thing', './thing.ts', './thing.js?a', '.'].map(
      (specifier) => [
        `a relative import of ${specifier} in the engine`,
        'libs/engine/src/deep/a.ts',
        `import '${specifier}';`,
        /names no \.ts file/,
      ],
    ),
    ['a relative import of what is not there', 'libs/domain/src/a.ts', "import './nowhere.js';", /names no \.ts file/],
    ['one by a dynamic import', 'libs/domain/src/a.ts', "await import('./a.wasm');", /names no \.ts file/],
    ...['dist', 'coverage', 'node_modules', '.deadman'].map((folder) => [
      `code in a folder called ${folder}`,
      `libs/engine/src/deep/${folder}/a.ts`,
      'Date.now();',
      /is not read/,
    ]),
    ['code in such a folder of the end-to-end tests', 'e2e/src/dist/a.ts', '', /is not read/],
    ['code in a .js file of the end-to-end tests', 'e2e/src/a.js', 'export const a = 1;', /does not end in \.ts/],
    ['one in a class', 'libs/engine/src/a.ts', 'class A { b = 1; c() { return Date.now(); } }', /Date\.now/],
    ['one as a default', 'libs/engine/src/a.ts', 'export const a = (now = Date.now()) => now;', /Date\.now/],
  ])('%s', (_what, file, content, ...faults) => {
    expect(findFaults(workspace({ [file]: content }))).toEqual(faults.map((fault) => expect.stringMatching(fault)));
  });

  it('a relative import of code in a folder that is not read, and the folder', () => {
    const root = workspace({
      'libs/engine/src/dist/a.ts': 'Date.now();',
      'libs/engine/src/b.ts': "import './dist/a.js';",
    });
    expect(findFaults(root)).toEqual([
      expect.stringMatching(/src\/dist: /),
      expect.stringMatching(/names no \.ts file/),
    ]);
  });

  it('a package in the engine, declared or not', () => {
    const engine = project('libs/engine', 'type:engine', ['libs/domain'], { uuid: '1' });
    const root = workspace({ ...engine, 'libs/engine/src/a.ts': "import 'uuid'; import 'lodash';" });
    expect(findFaults(root)).toEqual([expect.stringMatching(/uuid.*from ports/), expect.stringMatching(/lodash/)]);
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
    [
      'the calendar without a time zone',
      'libs/engine/src/a.ts',
      'export const a = (at: Date) => [at.getUTCHours(), at.getTime(), at.toISOString()];',
    ],
    ['anything as a text', 'libs/engine/src/a.ts', 'export const a = (b: number) => b.toString(16) + `${b} of ${2}`;'],
    ['a relative import of a folder below', 'libs/engine/src/deep/a.ts', "import '../thing.js';"],
    ['one of something else in a spec', 'libs/engine/src/a.spec.ts', "import './a.json';"],
    ['one of something else in an adapter', 'libs/store/src/a.ts', "import './a.json';"],
    ['what tools make beside the sources', 'libs/engine/dist/a.ts', 'Date.now();'],
    ['a question for a moment', 'libs/engine/src/a.ts', 'export const a = (at: unknown) => at instanceof Date;'],
    ['the calendar and arithmetic', 'libs/engine/src/a.ts', 'export const a = Math.max(Date.UTC(2000), Math["PI"]);'],
    [
      'moments and signals in types',
      'libs/engine/src/a.ts',
      'const c: any = 1; export class A<T extends Date> implements B<Date> { a = new Map<Date, Date>(); b = (c as Date).d!; e?: typeof Date; }',
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
    ...[
      ['a local', 'const fetch = () => 1; fetch();'],
      [
        'a parameter',
        'export const a = (process: any, { crypto, b: performance = 1 }: any) => [process, crypto, performance];',
      ],
      ['a function, before it stands there', 'fetch(); function fetch() {}'],
      ['a variable, out of its block', '{ var fetch = 1; } fetch;'],
      ['a class', 'class Event { a = Event; } new Event();'],
      ['a class and its type', 'export interface Event { b: 1 } export class Event {} new Event();'],
      ['an enum', 'export enum Event { A, B = A } Event.A;'],
      ['an import', "import { fetch } from './thing.js'; fetch();"],
      ['an import under another name', "import { thing as fetch } from './thing.js'; fetch();"],
      ['an export', "export { fetch } from './thing.js'; const a = 1; export { a as process };"],
      ['what is caught', 'try { thing(); } catch (performance) { throw performance; } function thing() {}'],
      ['a label', 'process: for (;;) break process;'],
      ['a parameter that becomes a field', 'export class A { constructor(private fetch: any) { this.fetch(fetch); } }'],
      ['a local clock', 'export const a = (Date: any) => [Date.now(), new Date(), Date];'],
      [
        'a type that is used as one',
        'export type fetch = 1; export const a = (b: fetch): process => b; type process = fetch;',
      ],
    ].map(([what, content]) => [`${what} that has the name of a global`, 'libs/engine/src/a.ts', content]),
    [
      'what is listed',
      'libs/engine/src/a.ts',
      'class A extends Error { constructor() { super(String([new Map(), Symbol(), Infinity, Object.keys({}), undefined])); } } queueMicrotask(() => new A());',
    ],
    ['a module of Node in a spec of the engine', 'libs/engine/src/a.spec.ts', "import 'node:fs'; eval('');"],
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
    ['a contract suite in a spec', 'libs/engine/src/a.spec.ts', "import './b.contract.js';"],
    ['the outside of the lib in its spec', 'libs/store/src/a.spec.ts', "import './index.js';"],
  ])('%s', (_what, file, content) => {
    expect(findFaults(workspace({ [file]: content }))).toEqual([]);
  });
});
