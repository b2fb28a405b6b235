import type { EffectStore } from '@deadman/domain';
import type { Logger, ServiceInfo } from '@deadman/observability';
import { PostgresEffectStore, TransactionPool } from '@deadman/store';
import type { PostgresDatabase, PostgresOptions } from '@deadman/store';
import type { Teardown } from './teardown.js';

export interface EffectsDeps {
  readonly config: {
    readonly worker: { readonly transactions: number };
    readonly leases: { readonly ttlMs: number };
  };
  readonly info: ServiceInfo;
  readonly logger: Logger;
  readonly teardown: Teardown;
}

/**
 * What a worker's handlers keep their transactions and steps in: the jobs' database, over connections of their own for
 * the transactions. A transaction that waits for longer than a TTL is broken off (`protocol.md` §7).
 *
 * @param jobs for what the engine asks by itself.
 */
export function openEffects(jobs: PostgresDatabase, database: PostgresOptions, deps: EffectsDeps): EffectStore {
  const { config, info, logger, teardown } = deps;
  const transactions = new TransactionPool({
    ...database,
    applicationName: `${info.instance} handlers`,
    poolSize: config.worker.transactions,
    idleInTransactionMs: config.leases.ttlMs,
    onIdleError: (err) =>
      logger.debug({ event: 'postgres.connection-broken', err }, 'A connection of the handlers broke'),
  });
  teardown.add('connections of handlers', () => transactions.close());
  return new PostgresEffectStore(jobs, transactions);
}
