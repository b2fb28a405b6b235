import type { SqlResult, SqlStatement } from '../handler.js';
import type { Submission } from './job-store.js';
import type { OutboxEntry } from './transport.js';

/**
 * What handlers leave beside their own tables, so that a later attempt neither repeats nor forgets what an earlier one
 * did (`protocol.md` §7). Every write is fenced by the claim of its run.
 *
 * What all methods throw, as `DeadmanError`, is what those of `JobStore` throw, and means the same.
 */
export abstract class EffectStore {
  /** What a committed effect left, or null. How an unknown outcome of `commitEffect` is cleared up. */
  abstract findEffect(jobId: string, key: string): Promise<{ readonly value: string } | null>;

  /**
   * Makes a change and records its effect in one transaction, and commits only if the effect is new and, judged last of
   * all, the job is still this claim's. The lock that takes is held from then to the end: whoever stands still inside
   * `change` holds up nobody who takes the job away.
   *
   * @param change uses the transaction and returns the effect's value, JSON text. It may have been called when this throws.
   * @throws what `change` throws, unless the transaction was broken under it: then what broke it, as `DeadmanError`.
   * Nothing was changed, `unknown-outcome` excepted.
   */
  abstract commitEffect(
    effect: Effect,
    change: (transaction: OpenTransaction) => Promise<string>,
  ): Promise<EffectReceipt>;

  /** Notes that a step begins, before it does anything, or finds what it left when it was done before. */
  abstract beginStep(step: Step): Promise<BegunStep>;

  /** Keeps what a step came to, JSON text. Repeating it changes nothing. */
  abstract finishStep(step: Step, value: string): Promise<'stored' | 'fenced'>;
}

/** The claim that a write about a running job comes from. With the state RUNNING it is the fence (`protocol.md` §2). */
export interface ClaimRef {
  readonly jobId: string;
  readonly attempt: number;
  readonly token: string;
}

export interface Effect extends ClaimRef {
  /** Names the effect within its job. */
  readonly key: string;
}

export interface Step extends ClaimRef {
  /** Names the step within its job. */
  readonly name: string;
}

/** The transaction of an effect, as long as it is open. */
export interface OpenTransaction {
  /** Runs a statement of the handler's, and throws what the driver throws. */
  query<Row>(statement: string | SqlStatement, values?: readonly unknown[]): Promise<SqlResult<Row>>;

  /** Inserts jobs without idempotency keys. Throws what `JobStore.submit` throws. */
  submit(batch: readonly Submission[]): Promise<void>;
}

/**
 * `committed` with what is to be sent now, by whoever asked for it.
 * `exists`    an earlier run, or an earlier try, has committed it. Nothing was changed by this one.
 * `fenced`    the job is no longer this claim's. Nothing was changed.
 * `idle`      `change` left the transaction without a statement for longer than a transaction may be left, and the
 *             database broke it off. Nothing was changed.
 */
export type EffectReceipt =
  | { readonly kind: 'committed'; readonly outbox: readonly OutboxEntry[] }
  | { readonly kind: 'exists' }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'idle' };

/**
 * `begun`   it is to be done. `before` is the attempt that began it first and left no memo, null when none had.
 * `done`    an earlier attempt has done it; `value` is JSON text.
 * `fenced`  the job is no longer this claim's. Nothing was changed.
 */
export type BegunStep =
  | { readonly kind: 'begun'; readonly before: number | null }
  | { readonly kind: 'done'; readonly value: string }
  | { readonly kind: 'fenced' };
