import type { z } from 'zod';
import { pointAlong, pointTo } from '../json/json-pointer.js';
import { fault } from '../problems/fault.js';
import type { Fault, FaultCode, Place } from '../problems/fault.js';
import { bad, good } from './checked.js';
import type { Checked } from './checked.js';

/** Which part of the request a value is; `pointer` is where in the body it stands. */
export type Part = { readonly in: 'body'; readonly pointer: string } | { readonly in: 'query' };

/** Reads a value by its schema. Says all that is wrong with it, each fault with its place in the request. */
export function checkSchema<T>(schema: z.ZodType<T>, value: unknown, part: Part): Checked<T> {
  const result = schema.safeParse(value);
  if (result.success) return good(result.data);
  return bad(result.error.issues.flatMap((issue) => toFaults(issue, value, part)));
}

/** The code that a schema's own check gives its issue, where none of zod's fits. */
export function issueOf(
  code: FaultCode,
  message: string,
): { code: 'custom'; message: string; params: { fault: FaultCode } } {
  return { code: 'custom', message, params: { fault: code } };
}

function toFaults(issue: z.core.$ZodIssue, value: unknown, part: Part): readonly Fault[] {
  if (issue.code === 'unrecognized_keys') {
    const code = part.in === 'body' ? 'unknown-member' : 'unknown-parameter';
    return issue.keys.map((key) => fault(code, placeOf(part, [...issue.path, key])));
  }
  return [fault(codeOf(issue, value), placeOf(part, issue.path), `${issue.message}.`)];
}

function placeOf(part: Part, path: readonly PropertyKey[]): Place {
  return part.in === 'body' ? { pointer: pointAlong(part.pointer, path) } : { parameter: String(path[0] ?? '') };
}

function codeOf(issue: z.core.$ZodIssue, value: unknown): FaultCode {
  switch (issue.code) {
    case 'custom':
      return (issue.params?.['fault'] as FaultCode | undefined) ?? 'invalid-value';
    case 'invalid_type':
      return issue.path.length > 0 && valueAt(value, issue.path) === undefined ? 'missing-member' : 'invalid-type';
    case 'too_big':
    case 'too_small':
      return 'out-of-range';
    case 'invalid_format':
      return 'invalid-format';
    default:
      return 'invalid-value';
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, step) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[step],
    value,
  );
}

/** Where a member that is missing or wrong stands in the body. */
export function memberOf(pointer: string, name: string): Place {
  return { pointer: pointTo(pointer, name) };
}
