import { EffectStore } from '@deadman/domain';
import type { BegunStep, Effect, EffectReceipt, OpenTransaction, Step } from '@deadman/domain';
import { checkMemo } from '../batch-rules.js';
import { DUE_NOTICE_MS } from '../due-notice.js';
import { atomicCall } from './atomic-call.js';
import { holds } from './decide.js';
import type { MemoryDatabase, StepRow } from './memory-database.js';
import { MemoryTransaction } from './memory-transaction.js';
import { submit } from './submit.js';

/**
 * The readable specification of an effect store. There is no SQL here: the statements of a change are kept, in the order
 * in which their transactions commit, in `MemoryDatabase.statements`, where a test finds what took effect.
 */
export class MemoryEffectStore extends EffectStore {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    super();
    this.#db = db;
  }

  override findEffect(jobId: string, key: string): Promise<{ readonly value: string } | null> {
    return atomicCall(() => {
      const value = this.#db.effects.get(jobId)?.get(key);
      return value === undefined ? null : { value };
    });
  }

  override async commitEffect(
    effect: Effect,
    change: (transaction: OpenTransaction) => Promise<string>,
  ): Promise<EffectReceipt> {
    const transaction = new MemoryTransaction();
    try {
      const value = await change(transaction);
      checkMemo(effect.key, value);
      return await atomicCall(() => this.#commit(effect, value, transaction));
    } finally {
      transaction.end();
    }
  }

  /** Nothing that others do comes between the fence and what is written. */
  #commit(effect: Effect, value: string, { statements, submissions }: MemoryTransaction): EffectReceipt {
    const { jobId, key } = effect;
    if (this.#db.effects.get(jobId)?.has(key)) return { kind: 'exists' };
    if (!this.#holds(effect)) return { kind: 'fenced' };
    this.#db.recordEffect(jobId, key, value);
    for (const statement of statements) this.#db.statements.push({ jobId, key, ...statement });
    const { outbox } = submit(this.#db, submissions, DUE_NOTICE_MS);
    return { kind: 'committed', outbox };
  }

  override beginStep(step: Step): Promise<BegunStep> {
    return atomicCall(() => {
      checkMemo(step.name, '');
      if (!this.#holds(step)) return { kind: 'fenced' };
      const known = this.#db.steps.get(step.jobId)?.get(step.name);
      if (known !== undefined && known.value !== null) return { kind: 'done', value: known.value };
      if (known === undefined) this.#putStep(step, { attempt: step.attempt, value: null });
      return { kind: 'begun', before: known?.attempt ?? null };
    });
  }

  override finishStep(step: Step, value: string): Promise<'stored' | 'fenced'> {
    return atomicCall(() => {
      checkMemo(step.name, value);
      if (!this.#holds(step)) return 'fenced';
      this.#putStep(step, { attempt: step.attempt, value });
      return 'stored';
    });
  }

  #putStep({ jobId, name }: Step, row: StepRow): void {
    this.#db.steps.set(jobId, new Map(this.#db.steps.get(jobId)).set(name, row));
  }

  #holds({ jobId, attempt, token }: Effect | Step): boolean {
    const job = this.#db.jobs.get(jobId);
    return job !== undefined && holds({ by: 'claim', attempt, token }, job);
  }
}
