import { FAULTS, statusOf } from './fault.js';
import type { Fault } from './fault.js';
import { problemKind } from './problem-table.js';
import type { ProblemCode } from './problem-table.js';

/** What a problem carries besides the members of every problem. */
export interface ProblemExtras {
  readonly detail?: string;
  readonly faults?: readonly Fault[];
  /** Members of the body: `limitBytes`, `state`, `hint`. */
  readonly members?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Ends a request with an RFC 9457 problem. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly code: ProblemCode,
    readonly extras: ProblemExtras = {},
    options?: { cause?: unknown },
  ) {
    super(extras.detail ?? problemKind(code).title, options);
    const { status, retryAfterSeconds } = problemKind(code);
    this.status = status;
    this.headers = {
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
      ...extras.headers,
    };
  }

  /** The problem of a request with these faults, of which there is at least one: the lowest status answers, all are listed. */
  static of(faults: readonly Fault[]): Problem {
    const status = faults.reduce((lowest, found) => Math.min(lowest, statusOf(found)), 599);
    const codes = new Set(faults.filter((found) => statusOf(found) === status).map(({ code }) => FAULTS[code].problem));
    const [first] = codes;
    const code = codes.size === 1 && first !== undefined ? first : GENERAL[status];
    if (code === undefined) throw new TypeError(`No problem stands for several faults of status ${status}`);
    const detail = faults.length === 1 ? faults[0]?.detail : `The request has ${faults.length} faults; see errors.`;
    return new Problem(code, { ...(detail !== undefined && { detail }), faults });
  }

  /** The JSON text of the problem, `requestId` included. */
  body(requestId: string): string {
    return JSON.stringify(this.#members(requestId));
  }

  #members(requestId: string): Record<string, unknown> {
    const { status, title, retryable, members } = problemKind(this.code);
    const listed = listFaults(this.extras.faults ?? []);
    return {
      type: `/problems/${this.code}`,
      title,
      status,
      ...(this.code !== 'internal-error' && { detail: this.message }),
      code: this.code,
      requestId,
      retryable,
      ...members,
      ...this.extras.members,
      ...(this.extras.faults && { errors: listed.errors }),
      ...(listed.omitted > 0 && { errorsOmitted: listed.omitted }),
    };
  }
}

/** The problem that stands for faults of one status with different problems of their own. */
const GENERAL: Partial<Record<number, ProblemCode>> = { 400: 'invalid-request', 422: 'unprocessable-request' };

/** Pointers repeat member names of the client's, so a small body could ask for an answer of gigabytes. A guess at what anybody reads. */
const MOST_FAULTS = 1_000;
const MOST_FAULT_CHARACTERS = 262_144;

function listFaults(faults: readonly Fault[]): { errors: readonly object[]; omitted: number } {
  const errors: object[] = [];
  let characters = 0;
  for (const { place, code, detail } of faults) {
    characters += detail.length + Object.values(place).join('').length;
    if (errors.length === MOST_FAULTS || (errors.length > 0 && characters > MOST_FAULT_CHARACTERS)) break;
    errors.push({ ...place, code, detail });
  }
  return { errors, omitted: faults.length - errors.length };
}
