import { isDeadmanError } from '@deadman/domain';
import type { Effect, OpenTransaction, OutboxEntry, SqlResult, SqlStatement, Submission } from '@deadman/domain';
import type { PoolClient, QueryResultRow } from 'pg';
import { checkMemo, checkNewJobs } from '../batch-rules.js';
import { DUE_NOTICE_MS } from '../due-notice.js';
import type { Values } from './postgres-database.js';
import { statement } from './statement.js';
import type { Statement } from './statement.js';
import { insertJobs } from './submit-batch.js';
import { hasLostConnection, isConnectionSound, translateError } from './translate-error.js';
import type { Stage } from './translate-error.js';

const RECORD_EFFECT = statement('record-effect');
const HOLD_CLAIM = statement('hold-claim');

/**
 * The setting lasts as long as the transaction: `record-effect` knows by it whether a handler has ended the transaction
 * and begun another one.
 */
const BEGIN = "BEGIN; SET LOCAL deadman.effect = 'open'";

/** A statement came after one that had failed, and whose error the handler kept to itself. */
const IN_FAILED_TRANSACTION = '25P02';
/** The server broke off a transaction that had waited too long for its next statement. */
const IDLE_IN_TRANSACTION = '25P03';

/** The server cannot do what any statement would need now: it is a standby, it has no room, or its disks fail. */
const SERVER_UNWELL = /^(25006|53...|58...)$/;

/** The transaction of one effect, on a connection of its own from its begin to its end. */
export class EffectSession implements OpenTransaction {
  readonly #client: PoolClient;
  readonly #onReleased: () => void;
  readonly #outbox: OutboxEntry[] = [];
  /** What statements of the handler were answered with, whether or not it told anybody. */
  readonly #failures: unknown[] = [];
  /** What ended the connection. */
  #broken: unknown = null;
  #isOpen = true;
  #isSound = true;
  #isReleased = false;

  /** @param onReleased called once the connection has gone back, or was given up. */
  constructor(client: PoolClient, onReleased: () => void) {
    this.#client = client;
    this.#onReleased = onReleased;
    client.on('error', this.#onBroken);
  }

  /** What is to be sent once the transaction has committed. */
  get outbox(): readonly OutboxEntry[] {
    return this.#outbox;
  }

  async begin(): Promise<void> {
    try {
      await this.#client.query(BEGIN);
    } catch (error) {
      this.#release(true);
      throw translateError(error, 'open');
    }
  }

  async query<Row>(text: string | SqlStatement, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    this.#assertOpen();
    return this.#asHandler(() => this.#client.query<Row & QueryResultRow>(text as string, values as unknown[]));
  }

  async submit(batch: readonly Submission[]): Promise<void> {
    this.#assertOpen();
    checkNewJobs(batch);
    const insert = <Row extends QueryResultRow>({ name, text }: Statement, values: Values): Promise<Row[]> =>
      this.#asHandler(async () => (await this.#client.query<Row>({ name, text, values: [...values] })).rows);
    try {
      this.#outbox.push(...(await insertJobs(insert, batch, DUE_NOTICE_MS)));
    } catch (error) {
      throw translateError(error, 'open');
    }
  }

  /** Lets a handler make its change, and throws what the change throws, or what broke the transaction under it. */
  async let(change: (transaction: OpenTransaction) => Promise<string>): Promise<string> {
    try {
      return await change(this);
    } catch (thrown) {
      throw this.#trouble() ?? thrown;
    } finally {
      this.#isOpen = false;
    }
  }

  /** Notes the effect, and returns whether it is a new one. */
  async record({ jobId, key, attempt }: Effect, value: string): Promise<boolean> {
    checkMemo(key, value);
    type Row = { readonly is_open: boolean; readonly is_recorded: boolean };
    const [row] = await this.#run<Row>(RECORD_EFFECT, [jobId, key, attempt, value], 'open');
    if (!row!.is_open) throw new TypeError('A handler must not end the transaction that it is given');
    return row!.is_recorded;
  }

  /** Whether the job is still this claim's, and if so keeps it from being taken away until the transaction ends. */
  async holdClaim({ jobId, attempt, token }: Effect): Promise<boolean> {
    return (await this.#run(HOLD_CLAIM, [jobId, attempt, token], 'open')).length === 1;
  }

  /** A constraint that is checked last is the handler's own: its error is thrown as the driver throws it. */
  async commit(): Promise<void> {
    try {
      await this.#run({ name: 'commit', text: 'COMMIT' }, [], 'write');
    } catch (error) {
      throw isDeadmanError(error, 'data-rejected') ? error.cause : error;
    }
    this.#release(false);
  }

  /** Undoes everything. Never throws: the server undoes by itself what belongs to a broken connection. */
  async rollBack(): Promise<void> {
    if (this.#isReleased) return;
    try {
      if (this.#isSound) await this.#client.query('ROLLBACK');
      this.#release(!this.#isSound);
    } catch {
      this.#release(true);
    }
  }

  /** Gives the connection up, whatever goes on there. What the server has not committed is undone. */
  breakOff(): void {
    this.#onBroken(new Error('The transaction was broken off: its worker has stopped'));
  }

  readonly #onBroken = (error: unknown): void => {
    this.#broken ??= error;
    this.#release(true);
  };

  #assertOpen(): void {
    if (!this.#isOpen) throw new TypeError('The transaction is over');
  }

  async #asHandler<Result>(act: () => Promise<Result>): Promise<Result> {
    try {
      return await act();
    } catch (error) {
      this.#failures.push(error);
      this.#isSound &&= isConnectionSound(error);
      throw error;
    }
  }

  async #run<Row extends QueryResultRow>({ name, text }: Statement, values: Values, stage: Stage): Promise<Row[]> {
    // On a connection that is gone nothing is sent any more, so nothing can have happened.
    if (this.#broken !== null) throw translateError(this.#broken, 'open');
    try {
      return (await this.#client.query<Row>({ name, text, values: [...values] })).rows;
    } catch (error) {
      this.#isSound &&= isConnectionSound(error);
      if (codeOf(error) === IN_FAILED_TRANSACTION) throw this.#trouble() ?? this.#failures[0] ?? error;
      throw translateError(error, stage);
    }
  }

  /** What went wrong that is no fault of the handler's: a lost connection, an unwell server, another transaction in the way. */
  #trouble(): unknown {
    if (this.#broken !== null) return translateError(this.#broken, 'open');
    for (const failure of this.#failures) {
      const error = translateError(failure, 'open');
      const isUnwell = SERVER_UNWELL.test(String(codeOf(failure)));
      if (isUnwell || hasLostConnection(failure) || error.code === 'transaction-conflict') return error;
    }
    return null;
  }

  #release(isBroken: boolean): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#client.off('error', this.#onBroken);
    this.#client.release(isBroken);
    this.#onReleased();
  }
}

/** Whether a transaction was broken off because its handler left it waiting. */
export function isLeftIdle(error: unknown): boolean {
  return isDeadmanError(error) && codeOf(error.cause) === IDLE_IN_TRANSACTION;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
