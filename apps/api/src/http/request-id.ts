import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Characters that mean nothing to a shell, a log viewer or a header parser. */
const SAFE = /^[\w.:/+=@~-]{1,128}$/;

/** The client's own id when it is safe to repeat in headers and logs, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && SAFE.test(given) ? given : randomUUID();
}
