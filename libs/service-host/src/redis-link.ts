import { isDeadmanError } from '@deadman/domain';
import { RedisScripts, refuseEviction } from '@deadman/leases';
import type { RedisOptions } from '@deadman/leases';
import type { HealthCheck, Logger } from '@deadman/observability';
import { CannotStart, EXIT } from './exit-code.js';
import type { Teardown } from './teardown.js';

/** How long a start waits for Redis before it goes on without: a busy machine takes its time to connect. Milliseconds. */
const FIRST_WAIT_MS = 5_000;

export interface RedisLinkDeps {
  readonly redis: Pick<RedisOptions, 'url' | 'connectTimeoutMs' | 'commandTimeoutMs'>;
  readonly logger: Logger;
  readonly teardown: Teardown;
}

/** A service's Redis, which may be away at any time: work goes on without it. */
export class RedisLink {
  readonly scripts: RedisScripts;
  readonly #logger: Logger;

  constructor({ redis, logger, teardown }: RedisLinkDeps) {
    this.#logger = logger;
    const onError = (err: Error): void =>
      logger.debug({ event: 'redis.connection-broken', err }, 'The connection to Redis broke; another one is made');
    this.scripts = new RedisScripts({ ...redis, onError });
    teardown.add('redis', async () => this.scripts.close());
  }

  get checks(): readonly HealthCheck[] {
    return [
      {
        name: 'redis',
        critical: false,
        effect: 'the dead are noticed later; work goes on',
        check: () => this.scripts.ping(),
      },
      {
        name: 'redis-eviction',
        critical: false,
        effect: 'absent leases mean nothing; the dead are noticed by the database alone',
        check: () => refuseEviction(this.scripts),
      },
    ];
  }

  /**
   * Resolves whether Redis is there or not.
   *
   * @throws CannotStart when it is there and may drop leases on its own.
   */
  async refuseEviction(): Promise<void> {
    try {
      await this.scripts.ready(FIRST_WAIT_MS);
      await refuseEviction(this.scripts);
    } catch (cause) {
      if (!isDeadmanError(cause, 'configuration-invalid')) return this.#tellAway(cause);
      throw new CannotStart(EXIT.config, cause.message, { cause });
    }
  }

  #tellAway(err: unknown): void {
    this.#logger.warn({ event: 'redis.away', err }, 'Redis cannot be reached; starting without it');
  }
}
