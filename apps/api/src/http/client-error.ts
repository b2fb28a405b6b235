import type { Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import { randomUUID } from 'node:crypto';
import { Problem } from '../problems/problem.js';
import type { ProblemCode } from '../problems/problem-table.js';

const CODES: Partial<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
};

/**
 * Answers what the HTTP parser itself refuses, for which there is no request and no reply, with a problem written to the
 * socket. Nothing is written to a client that has gone.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) socket.write(rawResponse(new Problem(CODES[error.code ?? ''] ?? 'malformed-http')));
  socket.destroySoon();
}

/** A whole HTTP/1.1 response that ends its connection. */
export function rawResponse(problem: Problem): string {
  const requestId = randomUUID();
  const body = problem.body(requestId);
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
