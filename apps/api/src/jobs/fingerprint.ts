import { hash } from 'node:crypto';
import { canonicalJson } from '../json/canonical-json.js';
import type { Member } from '../json/json-text.js';

/** Member name → digest of its value. */
export type Fingerprint = Readonly<Record<string, string>>;

/** The request that the key belongs to is not part of what is compared by the key. */
const KEY_MEMBER = 'idempotencyKey';

/**
 * What is kept with an idempotency key to tell the same request from another one: a digest of every member as the client
 * wrote it, whatever its order and white space. Numbers count by their spelling (see `canonicalJson`). An absent member
 * has no digest, so that a change of the defaults between two tries makes no difference; an absent payload means `{}`.
 */
export function fingerprintOf(text: string, members: readonly Member[]): Fingerprint {
  const digests: Record<string, string> = { payload: digest('{}') };
  for (const { name, start, end } of members) {
    if (name !== KEY_MEMBER) digests[name] = digest(canonicalJson(text.slice(start, end)));
  }
  return digests;
}

/** The members in which two requests differ, in alphabetical order. */
export function differences(left: Fingerprint, right: Fingerprint): readonly string[] {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].filter((name) => left[name] !== right[name]).toSorted();
}

/** Half of a SHA-256: nobody gains anything by a collision with a request of their own. */
function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
