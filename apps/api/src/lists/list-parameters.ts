import { z } from 'zod';
import { issueOf } from '../http/check-schema.js';
import { parseInstant } from '../http/instant.js';

export const LIMIT_DEFAULT = 50;
export const LIMIT_MAX = 200;
/** Values that one filter may name. A guess: far more than a person types, far fewer than a plan would mind. */
const VALUES_MAX = 50;

/** Parameters of a path that has none: each that comes is a slip. */
export const NoParameters = z.strictObject({});

/** Clamped to 200, and told in the answer. */
export const Limit = z
  .string()
  .regex(/^0*[1-9]\d*$/, 'A limit is a whole number of 1 or more')
  .transform((text) => Math.min(Number(text), LIMIT_MAX))
  .optional()
  .transform((limit) => limit ?? LIMIT_DEFAULT)
  .meta({
    type: 'integer',
    pattern: undefined,
    minimum: 1,
    default: LIMIT_DEFAULT,
    description: `Items on a page. More than ${LIMIT_MAX} is clamped and echoed.`,
  });

export const Cursor = z
  .string()
  .optional()
  .meta({ description: '`nextCursor` of the page before, with the same filters and order.' });

export const Sort = z
  .enum(['createdAt', '-createdAt'])
  .default('-createdAt')
  .meta({ description: 'A minus means newest first.' });

export const Instant = z
  .string()
  .transform((text, context) => {
    const instant = parseInstant(text);
    if (instant !== null) return instant;
    context.addIssue(issueOf('invalid-format', 'An instant is RFC 3339 with a zone, such as 2027-02-28T12:00:00Z'));
    return z.NEVER;
  })
  .optional()
  .meta({ format: 'date-time' });

/** A parameter that may stand there several times, which means OR; with `split`, commas separate values, too. */
export function manyOf<T>(
  read: (text: string) => T | null,
  complaint: string,
  { split }: { readonly split: boolean },
): z.ZodType<readonly T[] | undefined> {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((given, context) => {
      const texts = [given].flat().flatMap((text) => (split ? text.split(',') : [text]));
      const values = texts.slice(0, VALUES_MAX).map(read);
      if (texts.length > VALUES_MAX) context.addIssue(issueOf('out-of-range', `At most ${VALUES_MAX} values`));
      if (values.includes(null)) context.addIssue(issueOf('invalid-value', complaint));
      return [...new Set(values)] as T[];
    })
    .optional();
}
