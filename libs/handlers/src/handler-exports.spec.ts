import { describe, expect, it } from '@jest/globals';
import { defineJob, JobHandler } from '@deadman/sdk';
import { handlerExports } from './handler-exports.js';

const handler = (type: string) => defineJob({ type, run: () => null });
const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'handler-invalid', message: expect.stringContaining(message) });

@JobHandler('a.class')
class Decorated {
  run(): null {
    return null;
  }
}

const found = (exports: Record<string, unknown>): readonly string[] =>
  handlerExports(exports, 'file.js').map(({ kind, place }) => `${kind}: ${place}`);

describe('handlerExports', () => {
  it('finds handlers, classes, instances and arrays of them, and says where', () => {
    const exports = {
      one: handler('one'),
      Decorated,
      instance: new Decorated(),
      many: [handler('two'), Decorated],
      default: [[handler('three')]],
    };
    expect(found(exports)).toEqual([
      'handler: file.js, export one',
      'class: file.js, export Decorated',
      'handler: file.js, export instance',
      'handler: file.js, export many[0]',
      'class: file.js, export many[1]',
      'handler: file.js, default export[0][0]',
    ]);
  });

  it('looks into the object that a CommonJS file exports', () => {
    expect(found({ default: { one: handler('one'), helper: () => null } })).toEqual(['handler: file.js, export one']);
  });

  it('finds a dynamic Nest module', () => {
    class MailModule {}
    expect(found({ default: { module: MailModule, providers: [Decorated] } })).toEqual([
      'module: file.js, default export',
    ]);
  });

  it('passes over named exports that have nothing to do with handlers', () => {
    expect(found({ VERSION: 1, levels: ['a'], helper: () => null, Plain: class {}, nothing: null })).toEqual([]);
  });

  it.each([
    ['a function', () => null],
    ['a class without the decorator', class Plain {}],
    ['null', null],
    ['an array with something else in it', [handler('one'), 'two']],
  ])('refuses a default export that is %s', (_, value) => {
    expect(() => found({ default: value })).toThrow(invalid('this is not a handler. Make it with defineJob'));
  });

  it('refuses what looks like a handler and is none, naming the export', () => {
    const almost = { type: 'email.send', run: () => null };
    const message = 'file.js, export email: a handler has a type and the functions parse and run';
    expect(() => found({ email: almost })).toThrow(invalid(message));
    expect(() => found({ default: almost })).toThrow(invalid('file.js, default export: a handler has'));
  });
});
