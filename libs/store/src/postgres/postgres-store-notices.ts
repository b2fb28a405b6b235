import { setTimeout as wait } from 'node:timers/promises';
import { StoreNotices } from '@deadman/domain';
import type { CancelledClaim, StoreNotice } from '@deadman/domain';
import { Client } from 'pg';

export interface NoticesOptions {
  readonly url: string;
  /** Shown in `pg_stat_activity`. Default `deadman-notices`. */
  readonly applicationName?: string;
  /** Longest wait for a connection or an answer. Milliseconds, default 5 000. */
  readonly timeoutMs?: number;
  /** Pause between two signs of life, without which a cut connection would look like silence. Milliseconds, default 5 000. */
  readonly checkEveryMs?: number;
  /** Pause before the next try to connect. Milliseconds, default 1 000. */
  readonly reconnectMs?: number;
  /** Hears why a connection was lost or not made. */
  readonly onError?: (error: unknown) => void;
}

const DEFAULTS = {
  applicationName: 'deadman-notices',
  timeoutMs: 5_000,
  checkEveryMs: 5_000,
  reconnectMs: 1_000,
  onError: (): void => undefined,
} satisfies Partial<NoticesOptions>;

/** Listens on a connection of its own, because a listening connection cannot go back to a pool. */
export class PostgresStoreNotices extends StoreNotices {
  readonly #options: Required<NoticesOptions>;

  constructor(options: NoticesOptions) {
    super();
    this.#options = { ...DEFAULTS, ...options };
  }

  /**
   * Resolves once it listens, or after the first failed try; from then on it reconnects for ever. What is said while it is
   * not connected is lost, which every listener allows for.
   */
  override async subscribe(listener: (notice: StoreNotice) => void): Promise<{ unsubscribe(): Promise<void> }> {
    const stop = new AbortController();
    let listening!: Promise<void>;
    const firstTry = new Promise<void>((tried) => {
      listening = this.#listenForEver(listener, stop.signal, tried);
    });
    await firstTry;
    return {
      unsubscribe: async () => {
        stop.abort();
        await listening;
      },
    };
  }

  async #listenForEver(listener: (notice: StoreNotice) => void, signal: AbortSignal, tried: () => void): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#listen(listener, signal, tried);
      } catch (error) {
        this.#options.onError(error);
        tried();
        await pause(this.#options.reconnectMs, signal);
      }
    }
  }

  /** Listens on one connection until it breaks, which throws, or until the signal is aborted. */
  async #listen(listener: (notice: StoreNotice) => void, signal: AbortSignal, tried: () => void): Promise<void> {
    const client = this.#newClient();
    try {
      const broken = new Promise<never>((_, reject) => client.once('error', reject).once('end', () => reject(lost())));
      broken.catch(() => undefined);
      client.on('notification', ({ channel, payload }) => {
        const notice = toNotice(channel, payload);
        if (notice !== null && !signal.aborted) listener(notice);
      });
      await Promise.race([broken, client.connect()]);
      await Promise.race([broken, client.query('LISTEN deadman_cancel; LISTEN deadman_due')]);
      tried();
      while (!signal.aborted) {
        await Promise.race([broken, pause(this.#options.checkEveryMs, signal)]);
        if (!signal.aborted) await Promise.race([broken, client.query('SELECT 1')]);
      }
    } finally {
      client.on('error', () => undefined);
      void client.end().catch(() => undefined);
    }
  }

  #newClient(): Client {
    const { url, applicationName, timeoutMs } = this.#options;
    return new Client({
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
    });
  }
}

function toNotice(channel: string, payload: string | undefined): StoreNotice | null {
  if (channel === 'deadman_due') return { kind: 'due' };
  return channel === 'deadman_cancel' && payload ? { kind: 'cancel', claims: payload.split(',').map(toClaim) } : null;
}

function toClaim(text: string): CancelledClaim {
  const [jobId = '', token = ''] = text.split(':');
  return { jobId, token };
}

function lost(): Error {
  return new Error('The connection that listens was closed');
}

/** Ends early when the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
