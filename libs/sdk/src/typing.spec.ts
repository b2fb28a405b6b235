import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { z } from 'zod';
import { defineJob, done, JobHandler, snooze } from './index.js';
import type { Done, HandlerContext, HandlerOutcome, PayloadInputOf, PayloadOf, Snooze } from './index.js';

/**
 * What the compiler promises to a handler's author. The type checker reads this file: each `@ts-expect-error` fails the
 * build when the line below it compiles after all. Running it only shows that nothing here throws.
 */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

const order = z.object({ id: z.string(), placedAt: z.coerce.date(), note: z.string().optional() });

describe('types', () => {
  it('the payload is what the schema makes, and what it takes is known as well', () => {
    const job = defineJob({ type: 'order.ship', schema: order, run: async ({ payload }) => payload.placedAt });
    expect<Equal<Parameters<typeof job.run>[0]['payload'], { id: string; placedAt: Date; note?: string | undefined }>>(
      true,
    ).toBe(true);
    expect<Equal<ReturnType<typeof job.run>, Promise<Date>>>(true).toBe(true);
    expect<Equal<PayloadInputOf<typeof order>['id'], string>>(true).toBe(true);
  });

  it('the payload is unknown without a schema', () => {
    const job = defineJob({ type: 'any', run: ({ payload }) => payload });
    expect<Equal<ReturnType<typeof job.run>, unknown>>(true).toBe(true);
    expect<Equal<PayloadOf<undefined>, unknown>>(true).toBe(true);
    // @ts-expect-error -- An unchecked payload has no members.
    defineJob({ type: 'any', run: ({ payload }) => payload?.id });
  });

  it('a run that asks for another payload than the schema gives does not compile', () => {
    const run = (context: HandlerContext<{ id: number }>): number => context.payload.id;
    // @ts-expect-error -- The schema's id is a string.
    defineJob({ type: 'order.ship', schema: v.object({ id: v.string() }), run });
    // @ts-expect-error -- Nothing checked that there is an id.
    expect(defineJob({ type: 'order.ship', run }).type).toBe('order.ship');
  });

  it('a decorated class is held to the same', () => {
    @JobHandler('order.ship', { schema: order })
    class Fits {
      run({ payload }: HandlerContext<z.output<typeof order>>): string {
        return payload.id;
      }
    }
    // @ts-expect-error -- The schema's id is a string.
    @JobHandler('order.ship', { schema: order })
    class AsksForAnother {
      run({ payload }: HandlerContext<{ id: number }>): number {
        return payload.id;
      }
    }
    // @ts-expect-error -- Nothing checked that there is an id.
    @JobHandler('order.ship')
    class AsksWithoutSchema {
      run({ payload }: HandlerContext<{ id: string }>): string {
        return payload.id;
      }
    }
    // @ts-expect-error -- There is nothing to run.
    @JobHandler('order.ship')
    class HasNoRun {}
    expect([Fits, AsksForAnother, AsksWithoutSchema, HasNoRun]).toHaveLength(4);
  });

  it('the decorator stands on nothing but a class', () => {
    const misplace = (): unknown => {
      class Misplaced {
        // @ts-expect-error -- Belongs on the class.
        @JobHandler('order.ship')
        run(): null {
          return null;
        }
      }
      return Misplaced;
    };
    expect(misplace).toThrow('belongs on a class');
  });

  it('outcomes are typed and can be told apart', () => {
    const outcomes = (isReady: boolean): Done<{ sent: number }> | Snooze =>
      isReady ? done({ sent: 1 }) : snooze({ seconds: 5 });
    const outcome: HandlerOutcome = outcomes(true);
    expect(outcome).toBeDefined();
    // @ts-expect-error -- A number, as the name says.
    expect(() => snooze({ seconds: '5' })).toThrow(RangeError);
    // @ts-expect-error -- Minutes are not a unit of it.
    expect(() => snooze({ minutes: 5 })).toThrow(RangeError);
  });

  it('a transaction and a step give what their functions return', () => {
    const job = defineJob({
      type: 'any',
      async run({ transaction, step }) {
        const charged = await transaction('charge', async ({ query, submit }) => {
          const { rows } = await query<{ cents: number }>('SELECT 1 AS cents');
          const { id } = await submit({ type: 'email.send', retry: { kind: 'fixed' }, delaySeconds: 5 });
          // @ts-expect-error -- Either an instant or a delay in seconds, by these names.
          await submit({ type: 'email.send', delayMs: 5 });
          return { cents: rows[0]?.cents, id };
        });
        const counted = await transaction(() => 7);
        const booked = await step('book', ({ isInDoubt, idempotencyKey }) => (isInDoubt ? idempotencyKey : 'new'));
        return { charged, counted, booked };
      },
    });
    expect<
      Equal<
        Awaited<ReturnType<typeof job.run>>,
        { charged: { cents: number | undefined; id: string }; counted: number; booked: string }
      >
    >(true).toBe(true);
    // @ts-expect-error -- A step has a name.
    defineJob({ type: 'any', run: ({ step }) => step(() => 1) });
  });

  it('what a handler is told cannot be changed', () => {
    const job = defineJob({
      type: 'any',
      run(context) {
        // @ts-expect-error -- Read-only.
        context.job.attempt = 1;
      },
    });
    expect(job.type).toBe('any');
  });
});
