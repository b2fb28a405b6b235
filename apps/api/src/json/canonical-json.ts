import { decodeString, elementsOf, isArrayAt, isObjectAt, isStringAt, membersOf, skipSpace } from './json-text.js';
import type { Member } from './json-text.js';

/**
 * The same text for JSON that says the same thing: white space is dropped, members are sorted by name, strings are
 * written with the escapes of `JSON.stringify`. A number keeps its spelling: `1.10` and `1.1` differ, because a handler
 * is given the text and may tell them apart, and so may digits beyond what a double holds. Repeated members keep their
 * order. Recursive: the caller has limited the depth.
 */
export function canonicalJson(text: string): string {
  return canonicalAt(text, skipSpace(text, 0), text.trimEnd().length);
}

function canonicalAt(text: string, start: number, end: number): string {
  if (isObjectAt(text, start)) return canonicalObject(text, start);
  if (isArrayAt(text, start)) {
    return `[${elementsOf(text, start)
      .map((element) => canonicalAt(text, element.start, element.end))
      .join()}]`;
  }
  return isStringAt(text, start) ? JSON.stringify(decodeString(text, start, end)) : text.slice(start, end);
}

function canonicalObject(text: string, start: number): string {
  const members = membersOf(text, start).toSorted(byName);
  return `{${members.map(({ name, start, end }) => `${JSON.stringify(name)}:${canonicalAt(text, start, end)}`).join()}}`;
}

function byName(left: Member, right: Member): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}
