import type { Fault } from '../problems/fault.js';
import { Problem } from '../problems/problem.js';

/**
 * What came of reading a part of a request: its value, or all that is wrong with it. Parts are read one by one and
 * judged together, so that a client learns of a bad header, a bad parameter and a bad member in one answer.
 */
export type Checked<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly faults: readonly Fault[] };

export function good<T>(value: T): Checked<T> {
  return { ok: true, value };
}

export function bad(faults: readonly Fault[]): { readonly ok: false; readonly faults: readonly Fault[] } {
  return { ok: false, faults };
}

export function faultsOf(...parts: readonly Checked<unknown>[]): readonly Fault[] {
  return parts.flatMap((part) => (part.ok ? [] : part.faults));
}

type Values<Parts extends readonly Checked<unknown>[]> = {
  -readonly [Index in keyof Parts]: Parts[Index] extends Checked<infer T> ? T : never;
};

/** The values of all parts. @throws Problem with the faults of all parts. */
export function requireAll<const Parts extends readonly Checked<unknown>[]>(...parts: Parts): Values<Parts> {
  const faults = faultsOf(...parts);
  if (faults.length > 0) throw Problem.of(faults);
  return parts.map((part) => (part.ok ? part.value : undefined)) as Values<Parts>;
}
