import type { IncomingMessage } from 'node:http';
import { bad, good } from '../http/checked.js';
import type { Checked } from '../http/checked.js';
import { fault } from '../problems/fault.js';
import type { Place } from '../problems/fault.js';
import { JOB_RULES } from './job-rules.js';

const PRINTABLE = /^[\x20-\x7e]*$/;
/** A string of RFC 9651, in which a backslash escapes a quote or a backslash and nothing else. */
const STRUCTURED = /^"((?:[^"\\]|\\["\\])*)"$/;

/** The `Idempotency-Key` of a request, null when there is none. Two header lines are refused, since either may be meant. */
export function readKeyHeader(request: IncomingMessage): Checked<string | null> {
  const given = request.headers['idempotency-key'];
  if (given === undefined) return good(null);
  const place: Place = { header: 'Idempotency-Key' };
  const lines = request.headersDistinct['idempotency-key']?.length ?? 0;
  if (lines > 1) return bad([fault('invalid-idempotency-key', place, 'The header stands there more than once.')]);
  return readKey(String(given), place);
}

/**
 * The key that a text stands for. `"abc"`, as the standard for the header writes it, and `abc`, as most clients do, are
 * the same key.
 */
export function readKey(text: string, place: Place): Checked<string> {
  const key = unquote(text.trim());
  const complaint = complaintAbout(key);
  return key === null || complaint !== null
    ? bad([fault('invalid-idempotency-key', place, complaint ?? undefined)])
    : good(key);
}

function unquote(text: string): string | null {
  if (!text.startsWith('"')) return text;
  return STRUCTURED.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? null;
}

function complaintAbout(key: string | null): string | null {
  if (key === null) return 'A key that opens with a quote has to be a structured string: "abc".';
  if (key.length === 0) return 'The key is empty.';
  if (key.length > JOB_RULES.keyMaxLength) return `The key is longer than ${JOB_RULES.keyMaxLength} characters.`;
  return PRINTABLE.test(key) ? null : 'The key has characters that are not printable ASCII.';
}
