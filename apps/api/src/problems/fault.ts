import { problemKind } from './problem-table.js';
import type { ProblemCode } from './problem-table.js';

/** Where in a request a fault is. */
export type Place = { readonly pointer: string } | { readonly parameter: string } | { readonly header: string };

interface FaultKind {
  /** The problem that a request with this fault alone is answered with. */
  readonly problem: ProblemCode;
  readonly meaning: string;
}

/** Everything that `errors` can say of a place in a request. */
export const FAULTS = {
  'malformed-json': { problem: 'malformed-json', meaning: 'The body is not JSON.' },
  'missing-body': { problem: 'invalid-request', meaning: 'The body is empty; a JSON object is needed.' },
  'unexpected-body': { problem: 'invalid-request', meaning: 'This request takes no body.' },
  'missing-member': { problem: 'invalid-request', meaning: 'A member that is required is absent.' },
  'unknown-member': { problem: 'invalid-request', meaning: 'The api knows no such member.' },
  'duplicate-member': { problem: 'invalid-request', meaning: 'The member stands there more than once.' },
  'conflicting-members': { problem: 'invalid-request', meaning: 'The member excludes another one that is there, too.' },
  'unknown-parameter': { problem: 'invalid-request', meaning: 'The api knows no such query parameter.' },
  'unexpected-header': { problem: 'invalid-request', meaning: 'The header cannot be used with this request.' },
  'invalid-type': { problem: 'invalid-request', meaning: 'The value is of another type than it has to be.' },
  'invalid-value': { problem: 'invalid-request', meaning: 'The value is none of those that are allowed.' },
  'invalid-format': { problem: 'invalid-request', meaning: 'The text does not have the form it needs.' },
  'out-of-range': { problem: 'invalid-request', meaning: 'The number, time or length is not within its bounds.' },
  'invalid-idempotency-key': { problem: 'invalid-idempotency-key', meaning: 'The idempotency key is not valid.' },
  'malformed-cursor': { problem: 'invalid-cursor', meaning: 'The cursor is not one that this api made.' },
  'foreign-cursor': { problem: 'invalid-cursor', meaning: 'The cursor belongs to other filters or another order.' },
  'payload-too-large': { problem: 'payload-too-large', meaning: 'The payload has more than 262,144 bytes.' },
  'payload-too-deep': { problem: 'payload-too-deep', meaning: 'The payload is nested deeper than 100.' },
  'unknown-queue': { problem: 'unknown-queue', meaning: 'The queue is not declared.' },
  nul: { problem: 'text-not-storable', meaning: 'The text has a NUL character.' },
  'lone-surrogate': { problem: 'text-not-storable', meaning: 'The text has a lone surrogate.' },
  'idempotency-key-reused': {
    problem: 'idempotency-key-reused',
    meaning: 'The member differs from that of the request that the key belongs to.',
  },
} as const satisfies Record<string, FaultKind>;

export type FaultCode = keyof typeof FAULTS;

/** One thing that is wrong with a request. `detail` quotes no payload. */
export interface Fault {
  readonly place: Place;
  readonly code: FaultCode;
  readonly detail: string;
}

export function fault(code: FaultCode, place: Place, detail: string = FAULTS[code].meaning): Fault {
  return { place, code, detail };
}

export function faultKind(code: FaultCode): FaultKind {
  return FAULTS[code];
}

export function statusOf(found: Fault): number {
  return problemKind(FAULTS[found.code].problem).status;
}
