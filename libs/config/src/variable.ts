import { z } from 'zod';

/** One environment variable: what it means, what may stand in it, and how its text becomes a value. */
export interface Variable<Value> {
  readonly name: string;
  /** For the reference page: whole sentences, with unit and relation to others. */
  readonly what: string;
  /** Completes "it must be …". */
  readonly allowed: string;
  /** Text to value. Never sees an absent or empty variable. */
  readonly schema: z.ZodType<Value, string>;
  /** What holds when the variable is absent; `REQUIRED` when it may not be. */
  readonly fallback: Value | typeof REQUIRED;
  /** The fallback as one would write it, null when there is none. */
  readonly fallbackText: string | null;
  /** Never shown in a message, and may stand in a file instead, named by `<name>_FILE`. */
  readonly isSecret: boolean;
}

export type ValueOf<V> = V extends Variable<infer Value> ? Value : never;

/** As a default: the variable has none and must be set. */
export const REQUIRED = Symbol('required');

/** A default: a value, null for "may be absent", or `REQUIRED`. */
type Fallback<Value> = Value | null | typeof REQUIRED;

/** What a variable can hold: null only when that is its default. */
type Held<Value, Default> = Value | Extract<Default, null>;

interface About<Default> {
  readonly name: string;
  readonly what: string;
  readonly default: Default;
  readonly secret?: boolean;
}

export function wholeNumber<Default extends Fallback<number>>(
  about: About<Default> & { readonly min: number; readonly max: number },
): Variable<Held<number, Default>> {
  const { min, max } = about;
  const schema = z
    .string()
    .regex(/^-?\d+$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max));
  return variable(about, `a whole number from ${min} to ${max}`, schema, String);
}

/** A whole number in one unit that the code reads in another: milliseconds from days, for instance. */
export function scaledNumber(
  about: About<number> & { readonly min: number; readonly max: number; readonly factor: number },
): Variable<number> {
  const { default: fallback, factor } = about;
  const plain = wholeNumber({ ...about, default: REQUIRED });
  return {
    ...plain,
    schema: plain.schema.transform((value) => value * factor),
    fallback: fallback * factor,
    fallbackText: String(fallback),
  };
}

export function text<Default extends Fallback<string>>(
  about: About<Default> & { readonly pattern: RegExp; readonly allowed: string },
): Variable<Held<string, Default>> {
  return variable(about, about.allowed, z.string().regex(about.pattern), String);
}

export function oneOf<const Values extends readonly [string, ...string[]], Default extends Fallback<Values[number]>>(
  about: About<Default> & { readonly values: Values },
): Variable<Held<Values[number], Default>> {
  const schema = z.enum(about.values) as unknown as z.ZodType<Values[number], string>;
  return variable(about, `one of ${about.values.join(', ')}`, schema, String);
}

/** Items between commas, each once, white space around them left out. */
export function list<Default extends Fallback<readonly string[]>>(
  about: About<Default> & { readonly pattern: RegExp; readonly allowed: string },
): Variable<Held<readonly string[], Default>> {
  const schema = z
    .string()
    .transform((raw) => [...new Set(raw.split(',').map((item) => item.trim()))])
    .pipe(z.array(z.string().regex(about.pattern)));
  return variable<readonly string[], Default>(about, about.allowed, schema, (items) => items.join(','));
}

/** A URL with one of these schemes. It may carry a password, so it is a secret. */
export function secretUrl<Default extends Fallback<string>>(
  about: About<Default> & { readonly schemes: readonly [string, ...string[]] },
): Variable<Held<string, Default>> {
  const { schemes } = about;
  const schema = z.string().refine((raw) => URL.canParse(raw) && schemes.includes(new URL(raw).protocol.slice(0, -1)));
  const allowed = `a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  return variable({ ...about, secret: true }, allowed, schema, String);
}

/** A value of its own kind, empty unless it is set. */
export function parsed<Item>(
  about: About<readonly Item[]> & { readonly allowed: string; readonly schema: z.ZodType<readonly Item[], string> },
): Variable<readonly Item[]> {
  return variable<readonly Item[], readonly Item[]>(about, about.allowed, about.schema, (items) => items.join(','));
}

function variable<Value, Default extends Fallback<Value>>(
  about: About<Default>,
  allowed: string,
  schema: z.ZodType<Value, string>,
  show: (value: Value) => string,
): Variable<Held<Value, Default>> {
  const fallback: Fallback<Value> = about.default;
  return {
    name: about.name,
    what: about.what,
    allowed,
    schema: schema as z.ZodType<Held<Value, Default>, string>,
    fallback: fallback as Held<Value, Default> | typeof REQUIRED,
    fallbackText: fallback === null || fallback === REQUIRED ? null : show(fallback as Value),
    isSecret: about.secret ?? false,
  };
}
