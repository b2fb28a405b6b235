import { describe, expect, it } from '@jest/globals';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import type { HandlerContext } from '@deadman/domain';
import { defineJob } from './define-job.js';
import type { PayloadSchema } from './payload-schema.js';

const schemas: readonly { readonly library: string; readonly schema: PayloadSchema }[] = [
  { library: 'zod', schema: z.object({ to: z.object({ name: z.string() }) }) },
  { library: 'valibot', schema: v.object({ to: v.object({ name: v.string() }) }) },
  { library: 'arktype', schema: type({ to: { name: 'string' } }) },
];

const schemaOf = (validate: PayloadSchema['~standard']['validate']): PayloadSchema => ({
  '~standard': { version: 1, vendor: 'hand-written', validate },
});

describe('defineJob', () => {
  describe.each(schemas)('with a schema of $library', ({ schema }) => {
    const job = defineJob({ type: 'greet', schema, run: () => null });

    it('lets a payload through that fits', async () => {
      expect(await job.parse({ to: { name: 'Ada' } })).toEqual({ value: { to: { name: 'Ada' } } });
    });

    it('points to where one does not fit', async () => {
      expect(await job.parse({ to: { name: 7 } })).toEqual({
        issues: [{ pointer: '/to/name', message: expect.any(String) }],
      });
    });
  });

  it('hands the handler what the schema made of the payload', async () => {
    const job = defineJob({ type: 'wait', schema: z.object({ days: z.coerce.number().default(3) }), run: () => null });
    expect(await job.parse({})).toEqual({ value: { days: 3 } });
    expect(await job.parse({ days: '4' })).toEqual({ value: { days: 4 } });
  });

  it('waits for a schema that checks asynchronously', async () => {
    const isKnown = z.string().refine(async (id) => id === 'known', 'no such customer');
    const job = defineJob({ type: 'bill', schema: z.object({ customer: isKnown }), run: () => null });
    expect(await job.parse({ customer: 'known' })).toEqual({ value: { customer: 'known' } });
    expect(await job.parse({ customer: 'x' })).toEqual({
      issues: [{ pointer: '/customer', message: 'no such customer' }],
    });
  });

  it('escapes pointers as RFC 6901 asks, and points to the whole payload with an empty one', async () => {
    const issues = [{ message: 'a', path: ['a/b', { key: 'c~d' }, 0] }, { message: 'b', path: [] }, { message: 'c' }];
    const job = defineJob({ type: 'odd', schema: schemaOf(() => ({ issues })), run: () => null });
    expect(await job.parse({})).toEqual({
      issues: [
        { pointer: '/a~1b/c~0d/0', message: 'a' },
        { pointer: '', message: 'b' },
        { pointer: '', message: 'c' },
      ],
    });
  });

  it('does not swallow the fault of a schema that throws', () => {
    const schema = schemaOf(() => {
      throw new Error('broken schema');
    });
    expect(() => defineJob({ type: 'odd', schema, run: () => null }).parse({})).toThrow('broken schema');
  });

  it('lets any payload through without a schema', async () => {
    expect(await defineJob({ type: 'any', run: () => null }).parse(null)).toEqual({ value: null });
  });

  it('runs with the context it is given and returns what run returns', async () => {
    const job = defineJob({ type: 'double', schema: z.number(), run: async ({ payload }) => payload * 2 });
    expect(await job.run({ payload: 21 } as HandlerContext<number>)).toBe(42);
  });

  it.each([
    ['no type', { run: () => null }, 'defineJob: type must be'],
    ['an empty type', { type: '', run: () => null }, 'defineJob: type must be'],
    ['no run', { type: 'x' }, 'run must be a function'],
    ['a schema of another kind', { type: 'x', schema: { type: 'object' }, run: () => null }, 'not a Standard Schema'],
    ['a null schema', { type: 'x', schema: null, run: () => null }, 'not a Standard Schema'],
  ])('refuses %s at once, naming the job', (_, options, message) => {
    expect(() => defineJob(options as never)).toThrow(
      expect.objectContaining({ code: 'handler-invalid', message: expect.stringContaining(message) }),
    );
  });
});
