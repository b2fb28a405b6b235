import type { OpenTransaction, SqlResult, SqlStatement, Submission } from '@deadman/domain';
import { checkNewJobs } from '../batch-rules.js';

/** Gathers what a change wants to happen, for the moment in which its transaction commits. */
export class MemoryTransaction implements OpenTransaction {
  readonly statements: { readonly text: string; readonly values: readonly unknown[] }[] = [];
  readonly submissions: Submission[] = [];
  #isOpen = true;

  /** Keeps the statement. There is nothing behind it that could answer with rows. */
  async query<Row>(statement: string | SqlStatement, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    this.#assertOpen();
    const { text, values: own = [] } = typeof statement === 'string' ? { text: statement } : statement;
    this.statements.push({ text, values: values ?? own });
    return { rows: [], rowCount: 0 };
  }

  async submit(batch: readonly Submission[]): Promise<void> {
    this.#assertOpen();
    checkNewJobs(batch);
    this.submissions.push(...batch);
  }

  end(): void {
    this.#isOpen = false;
  }

  #assertOpen(): void {
    if (!this.#isOpen) throw new TypeError('The transaction is over');
  }
}
