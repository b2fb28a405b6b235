import { DeadmanError } from '@deadman/domain';
import { Redis } from 'ioredis';
import { readFileSync } from 'node:fs';

const SCRIPTS = {
  acquire: read('acquire'),
  renew: read('renew'),
  release: read('release'),
  read: read('read'),
  addWakeUps: read('add-wake-ups'),
  popDue: read('pop-due'),
  nextIn: read('next-in'),
} as const;

export type ScriptName = keyof typeof SCRIPTS;

type Argument = string | number;

export interface RedisOptions {
  readonly url: string;
  /** Longest wait for a connection. Milliseconds, default 1 000. */
  readonly connectTimeoutMs?: number;
  /** Longest wait for the answer to a command. Milliseconds, default 1 000; less than a beat where the TTL is short. */
  readonly commandTimeoutMs?: number;
  /** Longest pause between two attempts to connect again. Milliseconds, default 2 000. */
  readonly maxReconnectMs?: number;
  /** Hears every connection error; Redis being away is ordinary and must not end the process. */
  readonly onError?: (error: Error) => void;
}

/**
 * A connection that knows our scripts. A script is sent by its digest, and whole when Redis does not know it: so a
 * SCRIPT FLUSH or a restart costs one more round trip.
 *
 * While Redis is away every call fails at once instead of queueing: what it wanted to say about the present is not worth
 * saying later. The connection comes back by itself, for as long as it takes.
 */
export class RedisScripts {
  readonly #redis: Redis;

  constructor({
    url,
    connectTimeoutMs = 1_000,
    commandTimeoutMs = 1_000,
    maxReconnectMs = 2_000,
    onError,
  }: RedisOptions) {
    this.#redis = new Redis(url, {
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: connectTimeoutMs,
      commandTimeout: commandTimeoutMs,
      retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), maxReconnectMs),
    });
    this.#redis.on('error', (error: Error) => onError?.(error));
    for (const [name, lua] of Object.entries(SCRIPTS)) this.#redis.defineCommand(name, { lua });
  }

  /** @throws DeadmanError `lease-store-unavailable`; the script may have run. */
  async run(name: ScriptName, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    const script = (this.#redis as unknown as Record<ScriptName, (...all: Argument[]) => Promise<unknown>>)[name];
    return this.#translated(script.call(this.#redis, keys.length, ...keys, ...args));
  }

  /** Resolves once connected. Throws `lease-store-unavailable` when that takes longer than `withinMs`. */
  async ready(withinMs: number): Promise<void> {
    if (this.#redis.status === 'ready') return;
    let timer: NodeJS.Timeout | undefined;
    const isReady = new Promise<void>((resolve) => this.#redis.once('ready', () => resolve()));
    const isLate = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new DeadmanError('lease-store-unavailable', 'Redis did not answer')), withinMs);
    });
    await Promise.race([isReady, isLate]).finally(() => clearTimeout(timer));
  }

  /** @throws DeadmanError `lease-store-unavailable` */
  async ping(): Promise<void> {
    await this.#translated(this.#redis.ping());
  }

  /** The policy by which Redis makes room when its memory is full. Anything but `noeviction` may drop leases. */
  async maxMemoryPolicy(): Promise<string> {
    const info = await this.#translated(this.#redis.info('memory'));
    return /maxmemory_policy:([\w-]+)/.exec(info)?.[1] ?? 'unknown';
  }

  close(): void {
    this.#redis.disconnect();
  }

  async #translated<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new DeadmanError('lease-store-unavailable', `Redis: ${reason}`, { cause });
    }
  }
}

/** @throws DeadmanError `configuration-invalid` for a Redis that may drop leases on its own. */
export async function refuseEviction(scripts: RedisScripts): Promise<void> {
  const policy = await scripts.maxMemoryPolicy();
  if (policy === 'noeviction') return;
  throw new DeadmanError(
    'configuration-invalid',
    `Redis has maxmemory-policy '${policy}', which can drop leases of living workers; set it to 'noeviction'`,
  );
}

function read(name: string): string {
  return readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8');
}
