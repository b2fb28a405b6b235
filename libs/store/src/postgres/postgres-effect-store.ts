import { EffectStore } from '@deadman/domain';
import type { BegunStep, Effect, EffectReceipt, OpenTransaction, Step } from '@deadman/domain';
import { checkMemo } from '../batch-rules.js';
import { isLeftIdle } from './effect-session.js';
import type { EffectSession } from './effect-session.js';
import type { PostgresDatabase } from './postgres-database.js';
import { statement } from './statement.js';
import type { TransactionPool } from './transaction-pool.js';

const FIND_EFFECT = statement('find-effect');
const BEGIN_STEP = statement('begin-step');
const FINISH_STEP = statement('finish-step');

/** Effects and steps beside the jobs in PostgreSQL. */
export class PostgresEffectStore extends EffectStore {
  readonly #db: PostgresDatabase;
  readonly #transactions: TransactionPool;

  /**
   * @param db for what the engine asks by itself.
   * @param transactions for what handlers do.
   */
  constructor(db: PostgresDatabase, transactions: TransactionPool) {
    super();
    this.#db = db;
    this.#transactions = transactions;
  }

  override async findEffect(jobId: string, key: string): Promise<{ readonly value: string } | null> {
    const [row] = await this.#db.read<{ readonly value: string | null }>(FIND_EFFECT, [jobId, key]);
    return row === undefined ? null : { value: row.value ?? 'null' };
  }

  override async commitEffect(
    effect: Effect,
    change: (transaction: OpenTransaction) => Promise<string>,
  ): Promise<EffectReceipt> {
    const session = await this.#transactions.begin();
    try {
      return await commit(session, effect, change);
    } catch (error) {
      if (isLeftIdle(error)) return { kind: 'idle' };
      throw error;
    } finally {
      await session.rollBack();
    }
  }

  override async beginStep({ jobId, attempt, token, name }: Step): Promise<BegunStep> {
    checkMemo(name, '');
    type Row = { readonly before: number | null; readonly value: string | null };
    const [row] = await this.#db.write<Row>(BEGIN_STEP, [jobId, attempt, token, name]);
    if (row === undefined) return { kind: 'fenced' };
    return row.value === null ? { kind: 'begun', before: row.before } : { kind: 'done', value: row.value };
  }

  override async finishStep({ jobId, attempt, token, name }: Step, value: string): Promise<'stored' | 'fenced'> {
    checkMemo(name, value);
    const rows = await this.#db.write(FINISH_STEP, [jobId, attempt, token, name, value]);
    return rows.length === 1 ? 'stored' : 'fenced';
  }
}

/** The order is the rule (`protocol.md` §7): the change, its note, and last of all whether the job is still ours. */
async function commit(
  session: EffectSession,
  effect: Effect,
  change: (transaction: OpenTransaction) => Promise<string>,
): Promise<EffectReceipt> {
  const value = await session.let(change);
  if (!(await session.record(effect, value))) return { kind: 'exists' };
  if (!(await session.holdClaim(effect))) return { kind: 'fenced' };
  await session.commit();
  return { kind: 'committed', outbox: session.outbox };
}
