import { deferred } from './deferred.js';

export interface ReplyCutOptions {
  /**
   * Chooses the request by what its client has sent since the last reply, at most the end of it. Default: the next
   * request of any client. It is asked while the request is on its way, so the client must wait for each reply, as
   * drivers of PostgreSQL and Redis do unless told to pipeline.
   */
  readonly request?: (sent: Buffer) => boolean;
  /** How much of the reply still arrives. Bytes, default 0. */
  readonly afterBytes?: number;
}

/** How much of a request is kept for `request` to look at. Bytes. */
const KEPT_BYTES = 64 * 1024;

/**
 * Waits for one request, lets it reach the server, and cuts the reply: "lost after it was applied". `Connection` is
 * whatever tells connections apart.
 */
export class ReplyCut<Connection extends object> {
  private readonly settled = deferred();
  private readonly sent = new Map<Connection, Buffer>();
  private chosen: Connection | null = null;
  private bytesLeft: number;
  private isOver = false;

  constructor(private readonly options: ReplyCutOptions) {
    this.bytesLeft = options.afterBytes ?? 0;
    // Nobody may be waiting for it.
    this.settled.promise.catch(() => undefined);
  }

  /** Resolves once the reply was cut; rejects when the proxy closes before. */
  get done(): Promise<void> {
    return this.settled.promise;
  }

  get over(): boolean {
    return this.isOver;
  }

  request(from: Connection, bytes: Buffer): void {
    if (this.isOver || this.chosen) return;
    const sent = Buffer.concat([this.sent.get(from) ?? Buffer.alloc(0), bytes]).subarray(-KEPT_BYTES);
    this.sent.set(from, sent);
    if (this.options.request && !this.options.request(sent)) return;
    this.chosen = from;
    this.sent.clear();
  }

  /** Answers how many of these bytes may pass before the connection ends, or null when all may and it goes on. */
  reply(to: Connection, bytes: Buffer): number | null {
    if (this.isOver) return null;
    if (this.chosen !== to) {
      this.sent.delete(to);
      return null;
    }
    if (bytes.length <= this.bytesLeft) {
      this.bytesLeft -= bytes.length;
      return null;
    }
    this.isOver = true;
    this.settled.resolve();
    return this.bytesLeft;
  }

  /** A connection that ended before its reply came leaves the cut to the next request. */
  forget(connection: Connection): void {
    this.sent.delete(connection);
    if (this.chosen !== connection) return;
    this.chosen = null;
    this.bytesLeft = this.options.afterBytes ?? 0;
  }

  giveUp(): void {
    this.isOver = true;
    this.settled.reject(new Error('The proxy closed before a reply could be cut.'));
  }
}
