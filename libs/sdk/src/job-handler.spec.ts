import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { HandlerContext } from '@deadman/domain';
import { handlerOf, JobHandler, jobHandlerTypeOf } from './job-handler.js';

const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'handler-invalid', message: expect.stringContaining(message) });

/** The decorator as plain JavaScript can misuse it. */
const untyped = JobHandler as unknown as (...args: unknown[]) => (...args: unknown[]) => unknown;

@JobHandler('report.build', { schema: z.object({ pages: z.number() }) })
class BuildReport {
  readonly #perPage = 2;

  async run({ payload }: HandlerContext<{ pages: number }>): Promise<number> {
    return payload.pages * this.#perPage;
  }
}

class BuildOtherReport extends BuildReport {}

class Plain {}

describe('@JobHandler', () => {
  it('makes an instance the handler of its type, with the schema checked first', async () => {
    const handler = handlerOf(new BuildReport());
    expect(handler.type).toBe('report.build');
    expect(await handler.parse({ pages: 'x' })).toEqual({
      issues: [{ pointer: '/pages', message: expect.any(String) }],
    });
    expect(await handler.run({ payload: { pages: 4 } } as HandlerContext)).toBe(8);
  });

  it('works as a standard decorator too', () => {
    class Standard {
      run = (): string => 'ran';
    }
    const context = { kind: 'class', name: 'Standard', metadata: {}, addInitializer: () => undefined };
    JobHandler('standard.kind')(Standard, context as ClassDecoratorContext<typeof Standard>);
    expect(handlerOf(new Standard()).type).toBe('standard.kind');
    expect(handlerOf(new Standard()).run({} as HandlerContext)).toBe('ran');
  });

  it('tells the type of a decorated class, and null of anything else', () => {
    expect(jobHandlerTypeOf(BuildReport)).toBe('report.build');
    for (const other of [Plain, () => 1, {}, null, 'report.build']) expect(jobHandlerTypeOf(other)).toBeNull();
  });

  it('is not inherited: two classes never handle one type by accident', () => {
    expect(jobHandlerTypeOf(BuildOtherReport)).toBeNull();
    expect(() => handlerOf(new BuildOtherReport())).toThrow(invalid('BuildOtherReport is not decorated'));
  });

  it('finds the mark that another copy of the package left', () => {
    class Foreign {
      run = (): null => null;
    }
    Object.defineProperty(Foreign, Symbol.for('deadman.job-handler'), { value: { type: 'foreign' } });
    expect(handlerOf(new Foreign()).type).toBe('foreign');
  });

  it('says so when it stands on a method, a field or a static member, in either kind of decorators', () => {
    const belongs = invalid('belongs on a class');
    expect(() => untyped('x')(Plain.prototype, 'run', {})).toThrow(belongs);
    expect(() => untyped('x')(Plain, 'run', {})).toThrow(belongs);
    expect(() => untyped('x')(() => null, { kind: 'method', name: 'run' })).toThrow(belongs);
    expect(() => untyped('x')(undefined, { kind: 'field', name: 'run' })).toThrow(belongs);
  });

  it('says so when it is used without parentheses, without a type or with something that is no schema', () => {
    expect(() => untyped(Plain)).toThrow(invalid('needs the job type'));
    expect(() => untyped()).toThrow(invalid('needs the job type'));
    expect(() => untyped('x', { schema: {} })).toThrow(invalid('not a Standard Schema'));
  });

  it('says so when a class is decorated twice or has no run', () => {
    expect(() => untyped('again')(BuildReport)).toThrow(invalid('BuildReport already handles a type'));
    class Empty {}
    untyped('empty')(Empty);
    expect(() => handlerOf(new Empty())).toThrow(invalid('Empty has no method run'));
  });
});
