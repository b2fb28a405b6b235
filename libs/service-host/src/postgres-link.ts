import { isDeadmanError } from '@deadman/domain';
import type { Clock, JobStore } from '@deadman/domain';
import { measurePool, storeCheck } from '@deadman/observability';
import type { HealthCheck, Logger, Registry, ServiceInfo } from '@deadman/observability';
import { checkSchema, openPostgres, PostgresJobStore, waitForSchema } from '@deadman/store';
import type { PostgresDatabase, PostgresOptions } from '@deadman/store';
import { CannotStart, EXIT } from './exit-code.js';
import type { Teardown } from './teardown.js';

/** Pause between two tries to reach a database, or to find its schema migrated, at the start. Milliseconds. */
const TRY_EVERY_MS = 1_000;

export interface PostgresLinkDeps {
  readonly database: PostgresOptions;
  readonly info: ServiceInfo;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly teardown: Teardown;
  readonly stopped: AbortSignal;
}

/**
 * A service's database, from before it can be reached: nothing starts until it answers and its schema is one that this
 * release can run with. Once it did, its absences are for the pool and for whoever calls.
 */
export class PostgresLink {
  readonly #deps: PostgresLinkDeps;
  readonly #pools: PostgresDatabase[] = [];
  #why: unknown = new Error('not reached yet');
  #isTold = false;

  constructor(deps: PostgresLinkDeps) {
    this.#deps = deps;
    measurePool(deps.registry, () => this.#use());
  }

  /** Both critical: without them nothing can be decided. */
  get checks(): readonly HealthCheck[] {
    return [
      storeCheck({ ping: () => this.ask((store) => store.ping()) }),
      {
        name: 'schema',
        critical: true,
        effect: 'waits until the migrations have been run',
        check: () => this.#withPool(checkSchema),
      },
    ];
  }

  /**
   * Waits for the database and its schema, for as long as it takes, and opens a pool.
   *
   * @param options what this pool has different from the others.
   * @throws CannotStart when the schema has left this release behind, or when the service was asked to stop.
   */
  async open(options: Partial<PostgresOptions> = {}): Promise<PostgresDatabase> {
    const { stopped, teardown } = this.#deps;
    const pool = await this.#connect(options);
    teardown.add('database connections', () => pool.close());
    this.#pools.push(pool);
    try {
      await waitForSchema(pool, { signal: stopped, everyMs: TRY_EVERY_MS });
    } catch (cause) {
      throw new CannotStart(EXIT.unavailable, messageOf(cause), { cause });
    }
    return pool;
  }

  async #connect(options: Partial<PostgresOptions>): Promise<PostgresDatabase> {
    const { database, info, clock, logger, stopped } = this.#deps;
    const onIdleError = (err: Error): void =>
      logger.debug(
        { event: 'postgres.connection-broken', err },
        'A connection to PostgreSQL broke; another one is made',
      );
    while (!stopped.aborted) {
      try {
        return await openPostgres({ ...database, applicationName: info.instance, onIdleError, ...options });
      } catch (error) {
        if (!isDeadmanError(error)) throw error;
        this.#tellOnce(error);
        await clock.sleep(TRY_EVERY_MS, stopped);
      }
    }
    throw new CannotStart(EXIT.unavailable, 'Stopped before PostgreSQL could be reached', { cause: this.#why });
  }

  #tellOnce(err: unknown): void {
    this.#why = err;
    if (this.#isTold) return;
    this.#isTold = true;
    this.#deps.logger.warn({ event: 'postgres.awaited', err }, 'PostgreSQL cannot be reached; waiting until it can');
  }

  /** Asks the store; throws why it was not reached yet, or what it throws. */
  ask<Answer>(question: (store: JobStore) => Promise<Answer>): Promise<Answer> {
    return this.#withPool((pool) => question(new PostgresJobStore(pool)));
  }

  async #withPool<Answer>(ask: (pool: PostgresDatabase) => Promise<Answer>): Promise<Answer> {
    const [pool] = this.#pools;
    if (pool === undefined) throw this.#why;
    return ask(pool);
  }

  #use(): { readonly busy: number; readonly idle: number; readonly waiting: number } {
    const sum = { busy: 0, idle: 0, waiting: 0 };
    for (const { total, idle, waiting } of this.#pools.map((pool) => pool.connections())) {
      sum.busy += total - idle;
      sum.idle += idle;
      sum.waiting += waiting;
    }
    return sum;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
