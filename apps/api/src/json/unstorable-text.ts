import { unstorableReason } from '@deadman/domain';
import type { UnstorableReason } from '@deadman/domain';
import { pointTo } from './json-pointer.js';
import {
  decodeString,
  elementsOf,
  endOfString,
  isArrayAt,
  isObjectAt,
  isStringAt,
  membersOf,
  skipSpace,
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

function visit(text: string, at: number, pointer: string, found: UnstorableText[]): void {
  if (found.length >= MOST) return;
  if (isStringAt(text, at)) {
    note(decodeString(text, at, endOfString(text, at)), pointer, found);
  } else if (isArrayAt(text, at)) {
    elementsOf(text, at).forEach(({ start }, index) => visit(text, start, pointTo(pointer, index), found));
  } else if (isObjectAt(text, at)) {
    for (const { name, start } of membersOf(text, at)) {
      const inner = pointTo(pointer, name);
      note(name, inner, found);
      visit(text, start, inner, found);
    }
  }
}

function note(value: string, pointer: string, found: UnstorableText[]): void {
  const reason = unstorableReason(value);
  if (reason !== null && found.length < MOST) found.push({ pointer, reason });
}
