/** Headers of answers, by the name they are documented under. */
export const ANSWER_HEADERS = {
  'X-Request-Id': {
    description: 'The request’s own id when it sent a safe one, else a new one.',
    schema: { type: 'string' },
  },
  ETag: { description: 'Of the job’s version and progress. Weak.', schema: { type: 'string' } },
  Location: { description: 'Where the job is.', schema: { type: 'string', format: 'uri-reference' } },
  'Cache-Control': { description: '`no-store`.', schema: { type: 'string' } },
  'Idempotent-Replayed': {
    description: 'With a key: whether the job had been made before.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  'Idempotency-Mismatch': {
    description: 'Members in which the request differs from the one that the key belongs to.',
    schema: { type: 'string' },
  },
  'Preference-Applied': { description: '`handling=strict` when it was asked for.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  Allow: { description: 'The methods that the path knows.', schema: { type: 'string' } },
} as const;

export type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** Headers of requests, by the name they are documented under. */
export const REQUEST_HEADERS = {
  'X-Request-Id': 'Repeated in the answer and in logs, when it is at most 128 safe characters.',
  'Idempotency-Key': 'Makes repeating the request safe: 1 to 255 printable ASCII characters, quoted or not.',
  Prefer: '`handling=strict` refuses a key that belongs to another request instead of answering with its job.',
  'If-None-Match': 'An `ETag` from before: 304 when the job is the same. A running job is always sent.',
  traceparent: 'W3C trace context, kept with the job.',
} as const;

export type RequestHeader = keyof typeof REQUEST_HEADERS;

export function answerHeaders(names: readonly AnswerHeader[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, ANSWER_HEADERS[name]]));
}
