/** Makes identifiers. */
export abstract class Ids {
  /** A UUIDv7: sorts by the time it was made, which keeps index inserts at the right edge. */
  abstract timeOrdered(): string;

  /** A UUIDv4: tells nothing and cannot be guessed. For claim tokens and incarnations. */
  abstract random(): string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text is a uuid in the one spelling that this system uses: lower case with hyphens. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
