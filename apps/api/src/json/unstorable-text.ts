import { unstorableReason } from '@deadman/domain';
import type { UnstorableReason } from '@deadman/domain';
import { pointTo } from './json-pointer.js';
import {
  decodeString,
  endOfString,
  endOfValue,
  isArrayAt,
  isObjectAt,
  isStringAt,
  skipSpace,
  walkElements,
  walkMembers,
} from './json-text.js';

export interface UnstorableText {
  /** Of the string, or of the member whose name it is. */
  readonly pointer: string;
  readonly reason: UnstorableReason;
}

/** Enough to mend a payload by, and a bound on an answer that repeats the client's own member names. */
const MOST = 20;

/**
 * The strings and member names of a JSON text that PostgreSQL could not store once they are decoded. They can only be
 * written as `\u` escapes, since the text itself is valid UTF-8 and raw control characters are no JSON: a text without
 * one, nearly every text, costs one search. Recursive: the caller has limited the depth.
 */
export function findUnstorable(text: string, pointer: string): readonly UnstorableText[] {
  const found: UnstorableText[] = [];
  if (text.includes('\\u')) visit(text, skipSpace(text, 0), pointer, found);
  return found;
}

/** Looks into the value that begins at `at`, and returns where it ends. */
function visit(text: string, at: number, pointer: string, found: UnstorableText[]): number {
  if (isStringAt(text, at)) {
    const end = endOfString(text, at);
    note(decodeString(text, at, end), pointer, found);
    return end;
  }
  if (found.length >= MOST) return endOfValue(text, at);
  if (isArrayAt(text, at)) {
    return walkElements(text, at, (start, index) => visit(text, start, pointTo(pointer, index), found));
  }
  if (isObjectAt(text, at)) {
    return walkMembers(text, at, (name, start) => {
      const inner = pointTo(pointer, name);
      note(name, inner, found);
      return visit(text, start, inner, found);
    });
  }
  return endOfValue(text, at);
}

function note(value: string, pointer: string, found: UnstorableText[]): void {
  const reason = unstorableReason(value);
  if (reason !== null && found.length < MOST) found.push({ pointer, reason });
}
