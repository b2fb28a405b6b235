import type { IncomingMessage } from 'node:http';

/** A body up to this long costs less than to count it. Bytes: what Node takes for headers, too. */
const UNCOUNTED_BYTES = 16_384;

/**
 * How many bytes of bodies may be under way at once, from the first header to the answer. A body is held several times
 * over, as bytes, as text and as what was made of it, so without this some hundred clients with large batches fill the
 * memory before anybody can say that too much is waiting.
 *
 * What counts is what a request announces, or the most it may send when it announces nothing.
 */
export class BodyBudget {
  readonly #limitBytes: number;
  readonly #held = new Map<IncomingMessage, number>();
  #heldBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /**
   * Whether there is room for the request's body, which is then held until `release`, or until its client hangs up while
   * it still sends.
   *
   * @param mostBytes what its route takes. More is refused elsewhere, and read by nobody.
   */
  admit(request: IncomingMessage, mostBytes: number): boolean {
    const bytes = bodyBytes(request, mostBytes);
    if (bytes <= UNCOUNTED_BYTES || bytes > mostBytes) return true;
    if (this.#heldBytes + bytes > this.#limitBytes) return false;
    this.#held.set(request, bytes);
    this.#heldBytes += bytes;
    request.once('close', () => {
      // Work on a body that has arrived goes on without its client.
      if (!request.complete) this.release(request);
    });
    return true;
  }

  /** The request has its answer. Safe to repeat. */
  release(request: IncomingMessage): void {
    this.#heldBytes -= this.#held.get(request) ?? 0;
    this.#held.delete(request);
  }
}

function bodyBytes({ headers }: IncomingMessage, mostBytes: number): number {
  if (headers['transfer-encoding'] !== undefined) return mostBytes;
  return Number(headers['content-length'] ?? 0);
}
