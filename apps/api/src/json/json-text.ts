/**
 * Walks over JSON text that `JSON.parse` has already accepted. Nothing here checks the grammar again: on any other text
 * the answers mean nothing. It exists because a payload has to be stored and handed back as it was received, and
 * `JSON.parse` gives values without their places in the text.
 */

/** A member's name, and its value's place in the text: from its first character up to, not including, `end`. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The first index at or after `at` that holds no white space. The four characters of RFC 8259 are the only ones up to the space. */
export function skipSpace(text: string, at: number): number {
  let index = at;
  while (text.charCodeAt(index) <= 0x20) index += 1;
  return index;
}

/** The index after the closing quote of the string that opens at `at`. */
export function endOfString(text: string, at: number): number {
  let quote = text.indexOf('"', at + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

/** An odd run of backslashes before a character escapes it. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

/** The index after the value that begins at `at`, which must not be white space. */
export function endOfValue(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return endOfString(text, at);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return endOfLiteral(text, at);
  let depth = 0;
  for (let index = at; ; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
}

/** Numbers, `true`, `false` and `null` end at white space, a comma, a closing bracket or the end of the text. */
function endOfLiteral(text: string, at: number): number {
  for (let index = at; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 0x20 || code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE) return index;
  }
  return text.length;
}

/**
 * Goes through the members of the object that opens at `at`. `visit` is given a name and where its value begins, and says
 * where that ends, so that a walk into the depth passes each character once. Returns the index after the object.
 */
export function walkMembers(text: string, at: number, visit: (name: string, start: number) => number): number {
  let index = skipSpace(text, at + 1);
  while (text.charCodeAt(index) !== CLOSE_BRACE) {
    const nameEnd = endOfString(text, index);
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    index = nextPart(text, visit(decodeString(text, index, nameEnd), start));
  }
  return index + 1;
}

/** The same for the elements of an array. */
export function walkElements(text: string, at: number, visit: (start: number, index: number) => number): number {
  let index = skipSpace(text, at + 1);
  for (let count = 0; text.charCodeAt(index) !== CLOSE_BRACKET; count += 1) {
    index = nextPart(text, visit(index, count));
  }
  return index + 1;
}

/** Where the next member or element begins, or the closing bracket stands. */
function nextPart(text: string, end: number): number {
  const index = skipSpace(text, end);
  return text.charCodeAt(index) === COMMA ? skipSpace(text, index + 1) : index;
}

/** The members of the object that opens at `at`, in the order of the text, repeated names included. */
export function membersOf(text: string, at: number): readonly Member[] {
  const members: Member[] = [];
  walkMembers(text, at, (name, start) => {
    const end = endOfValue(text, start);
    members.push({ name, start, end });
    return end;
  });
  return members;
}

/** Where the elements of the array that opens at `at` begin. */
export function elementsOf(text: string, at: number): readonly number[] {
  const starts: number[] = [];
  walkElements(text, at, (start) => {
    starts.push(start);
    return endOfValue(text, start);
  });
  return starts;
}

/** What the string from `start` to `end`, quotes included, stands for. */
export function decodeString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner;
}

export function isObjectAt(text: string, at: number): boolean {
  return text.charCodeAt(at) === OPEN_BRACE;
}

export function isArrayAt(text: string, at: number): boolean {
  return text.charCodeAt(at) === OPEN_BRACKET;
}

export function isStringAt(text: string, at: number): boolean {
  return text.charCodeAt(at) === QUOTE;
}

/** How many arrays and objects the innermost value is in: 0 for a scalar, 1 for `{}`. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) deepest = Math.max(deepest, (depth += 1));
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
  }
  return deepest;
}
