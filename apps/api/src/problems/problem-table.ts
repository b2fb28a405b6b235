import { JOB_RULES } from '../jobs/job-rules.js';

/** What a client reads under `/problems/{code}` and in `docs/reference/problems.md`. */
export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** Whether the same request, unchanged, may succeed later. */
  readonly retryable: boolean;
  /** Why it happens. */
  readonly meaning: string;
  /** What to do about it. */
  readonly remedy: string;
  /** Value of the `Retry-After` header. */
  readonly retryAfterSeconds?: number;
  /** Members that every problem of this kind carries. */
  readonly members?: Readonly<Record<string, number>>;
}

/** Every problem the api answers with. The order is that of the reference page. */
export const PROBLEMS = {
  'invalid-request': {
    status: 400,
    title: 'The request is not valid',
    retryable: false,
    meaning: 'Members, parameters or headers are missing, unknown, or not of the form they need.',
    remedy: 'Correct what `errors` lists: all faults are there at once, each with its place.',
  },
  'malformed-json': {
    status: 400,
    title: 'The body is not JSON',
    retryable: false,
    meaning: 'The body is not one JSON text in UTF-8.',
    remedy: 'Send one JSON object, encoded as UTF-8 without a byte order mark.',
  },
  'invalid-idempotency-key': {
    status: 400,
    title: 'The idempotency key is not valid',
    retryable: false,
    meaning:
      'The key is empty, longer than 255 characters, has characters that are not printable ASCII, or came twice.',
    remedy: 'Send one `Idempotency-Key` of 1 to 255 printable ASCII characters. `"abc"` and `abc` are the same key.',
  },
  'invalid-cursor': {
    status: 400,
    title: 'The cursor is not valid',
    retryable: false,
    meaning: 'The cursor is not one that this api made, or it belongs to a list with other filters or another order.',
    remedy: 'Pass `nextCursor` on as it is, with the filters and the order of the request that gave it, or start over.',
  },
  'malformed-http': {
    status: 400,
    title: 'The request is not valid HTTP',
    retryable: false,
    meaning: 'The request line, a header, the target or the framing of the body breaks the rules of HTTP.',
    remedy: 'Check what stands between the client and the api; a client library does not send such requests.',
  },
  'resource-not-found': {
    status: 404,
    title: 'There is nothing under this path',
    retryable: false,
    meaning: 'The path is none of this api.',
    remedy: 'See `/docs` for the paths there are.',
  },
  'job-not-found': {
    status: 404,
    title: 'There is no such job',
    retryable: false,
    meaning: 'No job has this id: it never did, or the job ended and was removed after its time.',
    remedy: 'Check the id. Ended jobs are kept for 7 days, dead ones for 90, unless the deployment says otherwise.',
  },
  'queue-not-found': {
    status: 404,
    title: 'There is no such queue',
    retryable: false,
    meaning: 'The configuration declares no queue of this name.',
    remedy: 'See `GET /queues` for those that are declared.',
  },
  'dead-letter-not-found': {
    status: 404,
    title: 'There is no such dead letter',
    retryable: false,
    meaning: 'No dead letter has this id, or it was removed together with its job.',
    remedy: 'Check the id against `GET /dead-letters`.',
  },
  'problem-not-found': {
    status: 404,
    title: 'There is no such problem',
    retryable: false,
    meaning: 'No problem of this api has this code.',
    remedy: 'See `GET /problems` for the list.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The path does not know this method',
    retryable: false,
    meaning: 'The path exists, but not for this method.',
    remedy: 'Use one of the methods that the `Allow` header names.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request did not arrive in time',
    retryable: true,
    meaning: 'The connection was open, but the request was not complete within the time allowed.',
    remedy: 'Send the request again, over a connection that is faster.',
  },
  'job-already-finished': {
    status: 409,
    title: 'The job has already finished',
    retryable: false,
    meaning: 'The job had ended before it could be cancelled. `state` says how.',
    remedy: 'Nothing is left to cancel.',
  },
  'job-not-retryable': {
    status: 409,
    title: 'The job cannot be retried in its state',
    retryable: false,
    meaning: 'Only a job that is dead, cancelled, failed or scheduled can be retried. `state` says what it is.',
    remedy: 'Read `hint`: a pending job runs as it is, a running one has to end first, a succeeded one is done.',
  },
  'dead-letter-superseded': {
    status: 409,
    title: 'The dead letter is superseded',
    retryable: false,
    meaning: 'The job has left the death that this letter records: somebody retried it meanwhile.',
    remedy: 'Look at the job. If it died again, there is a newer dead letter.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    retryable: false,
    meaning: 'The body has more bytes than `limitBytes`.',
    remedy: 'Send fewer jobs at once, or keep large data elsewhere and put a reference into the payload.',
  },
  'payload-too-large': {
    status: 413,
    title: 'The payload is too large',
    retryable: false,
    meaning: 'The text of a payload, as it was sent, has more bytes than `limitBytes`.',
    remedy: 'Keep large data elsewhere and put a reference into the payload.',
    members: { limitBytes: JOB_RULES.payloadMaxBytes },
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The body is not application/json',
    retryable: false,
    meaning: 'The api reads `application/json` in UTF-8 alone, without a content encoding.',
    remedy: 'Send `Content-Type: application/json`.',
  },
  'expectation-failed': {
    status: 417,
    title: 'The expectation cannot be met',
    retryable: false,
    meaning: 'The `Expect` header asks for something other than `100-continue`.',
    remedy: 'Leave the header out.',
  },
  'unprocessable-request': {
    status: 422,
    title: 'The request cannot be carried out',
    retryable: false,
    meaning: 'The request is well formed, but several things in it cannot be done.',
    remedy: 'Correct what `errors` lists.',
  },
  'unknown-queue': {
    status: 422,
    title: 'The queue is not declared',
    retryable: false,
    meaning: 'The configuration declares no queue of this name; `errors` names those that it does.',
    remedy: 'Use a declared queue, or declare this one in the configuration of all services.',
  },
  'payload-too-deep': {
    status: 422,
    title: 'The payload is nested too deep',
    retryable: false,
    meaning: 'Arrays and objects of the payload are nested deeper than 100.',
    remedy: 'Flatten the payload.',
  },
  'text-not-storable': {
    status: 422,
    title: 'A text cannot be stored',
    retryable: false,
    meaning: 'A string or a member name has a NUL character (`\\u0000`) or a lone surrogate (such as `\\ud800`).',
    remedy: 'Correct the texts that `errors` points to. Binary data belongs into the payload as base64.',
  },
  'data-rejected': {
    status: 422,
    title: 'The database refuses a value',
    retryable: false,
    meaning: 'The database refused a value that the api let pass. Nothing was stored.',
    remedy: 'Report it with the request id: the api should have named the value.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The idempotency key belongs to another request',
    retryable: false,
    meaning: 'The key was used before with a request that differs, and this one asked for `Prefer: handling=strict`.',
    remedy: 'Use a new key for a new request. `errors` names the members that differ.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The headers are too large',
    retryable: false,
    meaning: 'The request line and headers together have more bytes than the api reads.',
    remedy: 'Send shorter or fewer headers, or fewer filters.',
  },
  'internal-error': {
    status: 500,
    title: 'The api failed',
    retryable: false,
    meaning: 'Something happened that the api does not know how to handle. The log has it under the request id.',
    remedy: 'Report it with the request id.',
  },
  overloaded: {
    status: 503,
    title: 'More work is waiting than can be taken on',
    retryable: true,
    meaning:
      'So many requests wait for the database, or so many bytes of bodies are under way, that a further one would not be answered in time.',
    remedy: 'Send the request again after `Retry-After`.',
    retryAfterSeconds: 1,
  },
  'store-unavailable': {
    status: 503,
    title: 'The database cannot be reached',
    retryable: true,
    meaning: 'The database is down, restarting, or broke off the work. Nothing was changed.',
    remedy: 'Send the request again after `Retry-After`.',
    retryAfterSeconds: 2,
  },
  'unknown-outcome': {
    status: 503,
    title: 'The change may or may not have happened',
    retryable: true,
    meaning: 'The connection to the database broke while the change was being committed.',
    remedy: 'Send the request again after `Retry-After`. With an `Idempotency-Key` no second job can come of it.',
    retryAfterSeconds: 2,
  },
  'query-too-slow': {
    status: 503,
    title: 'The query took too long',
    retryable: true,
    meaning: 'The database did not answer within the time that a read may take.',
    remedy: 'Send the request again after `Retry-After`, with fewer filters, and without `count=exact`.',
    retryAfterSeconds: 5,
  },
  'shutting-down': {
    status: 503,
    title: 'The service is stopping',
    retryable: true,
    meaning: 'This process takes no further work. Nothing was changed.',
    remedy: 'Send the request again after `Retry-After`; another process, or the next one, answers it.',
    retryAfterSeconds: 2,
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

export function problemKind(code: ProblemCode): ProblemKind {
  return PROBLEMS[code];
}

export function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEMS, text);
}
