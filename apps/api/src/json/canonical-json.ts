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

/**
 * The same text for JSON that says the same thing: white space is dropped, members are sorted by name, strings are
 * written with the escapes of `JSON.stringify`. A number keeps its spelling: `1.10` and `1.1` differ, because a handler
 * is given the text and may tell them apart, and so may digits beyond what a double holds. Repeated members keep their
 * order. Recursive: the caller has limited the depth.
 */
export function canonicalJson(text: string): string {
  const parts: string[] = [];
  write(text, skipSpace(text, 0), parts);
  return parts.join('');
}

/** Appends the canonical form of the value that begins at `at`, and returns where the value ends. */
function write(text: string, at: number, parts: string[]): number {
  if (isObjectAt(text, at)) return writeObject(text, at, parts);
  if (isArrayAt(text, at)) return writeArray(text, at, parts);
  const end = isStringAt(text, at) ? endOfString(text, at) : endOfValue(text, at);
  parts.push(isStringAt(text, at) ? JSON.stringify(decodeString(text, at, end)) : text.slice(at, end));
  return end;
}

function writeArray(text: string, at: number, parts: string[]): number {
  parts.push('[');
  const end = walkElements(text, at, (start, index) => {
    if (index > 0) parts.push(',');
    return write(text, start, parts);
  });
  parts.push(']');
  return end;
}

function writeObject(text: string, at: number, parts: string[]): number {
  const members: { readonly name: string; readonly value: string }[] = [];
  const end = walkMembers(text, at, (name, start) => {
    const inner: string[] = [];
    const innerEnd = write(text, start, inner);
    members.push({ name, value: inner.join('') });
    return innerEnd;
  });
  members.sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
  parts.push(`{${members.map(({ name, value }) => `${JSON.stringify(name)}:${value}`).join()}}`);
  return end;
}
