import { DeadmanError } from '@deadman/domain';
import type { ErrorCode } from '@deadman/domain';

/**
 * How far a request had come when it failed.
 *
 * `unsent`  no part of it had left: nothing was changed.
 * `read`    it could change nothing.
 * `open`    a statement of a transaction that cannot commit any more: nothing was changed.
 * `write`   it would commit by itself, or was the COMMIT: without an answer it may have happened.
 */
export type Stage = 'unsent' | 'read' | 'open' | 'write';

/** Nothing was changed, and the code says why. Longest prefix of the SQLSTATE first. */
const REFUSALS: readonly (readonly [string, ErrorCode])[] = [
  ['57014', 'statement-timeout'],
  ['55P03', 'transaction-conflict'],
  ['40003', 'unknown-outcome'],
  ['3F000', 'schema-incompatible'],
  ['42', 'schema-incompatible'],
  ['22', 'data-rejected'],
  ['23', 'data-rejected'],
  ['54', 'data-rejected'],
  ['40', 'transaction-conflict'],
];

/**
 * With these the server says good-bye to a session in which nothing was under way, or never let it begin: too many
 * connections, starting up, no such database, not allowed, idle for too long.
 */
const NEVER_BEGAN = /^(53300|57P03|57P05|25P03|3D000|28...)$/;

/** The driver refuses to send on a connection that it knows to be broken. */
const NOT_SENT = /not queryable/;

/**
 * The one place where errors of the driver become errors of Deadman. A wrong class loses jobs: `unknown-outcome` makes the
 * caller read back, all others make it believe that nothing happened.
 *
 * - The server answered with an ERROR: it has rolled back. That includes an error at COMMIT and a statement timeout, which
 *   is disarmed before the commit begins.
 * - The server ended the session (FATAL: an administrator, a crash, a shutdown), or the connection broke, or the answer did
 *   not come in time: a commit that was under way may have happened, and the message about it was lost.
 */
export function translateError(error: unknown, stage: Stage): DeadmanError {
  if (error instanceof DeadmanError) return error;
  return new DeadmanError(codeOf(error, stage), undefined, { cause: error });
}

function codeOf(error: unknown, stage: Stage): ErrorCode {
  const answer = toAnswer(error);
  if (answer !== null && !answer.isFatal) return refusalOf(answer.sqlState);
  const isHarmless =
    stage !== 'write' || (answer !== null && NEVER_BEGAN.test(answer.sqlState)) || NOT_SENT.test(messageOf(error));
  return isHarmless ? 'store-unavailable' : 'unknown-outcome';
}

function refusalOf(sqlState: string): ErrorCode {
  return REFUSALS.find(([prefix]) => sqlState.startsWith(prefix))?.[1] ?? 'store-unavailable';
}

/** Whether the connection can go back to the pool: only when the server itself answered, and will answer the next request. */
export function isConnectionSound(error: unknown): boolean {
  const answer = toAnswer(error);
  return answer !== null && !answer.isFatal && !FORGOTTEN.has(answer.sqlState);
}

/** The driver has waited for an answer for as long as it was told to. */
const NO_ANSWER = /^Query read timeout$/;

/** Whether an error says that the connection is of no use any more: the server has ended the session, or does not answer. */
export function hasLostConnection(error: unknown): boolean {
  const answer = toAnswer(error);
  return answer === null ? NO_ANSWER.test(messageOf(error)) : answer.isFatal;
}

/** A prepared statement that the server has forgotten, or whose result has another shape since a migration. */
const FORGOTTEN: ReadonlySet<string> = new Set(['26000', '0A000']);

interface Answer {
  readonly sqlState: string;
  readonly isFatal: boolean;
}

/** The severity comes in the language of the server, so that these must be known by their codes. */
const ENDS_SESSION = /^(57P0.|25P03|08...|28...|3D000|53300)$/;

const SQL_STATE = /^[0-9A-Z]{5}$/;

/** What the server said, or null when the error comes from the connection. Node's own codes are longer than a SQLSTATE, or have no severity. */
function toAnswer(error: unknown): Answer | null {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return null;
  const { code, severity } = error;
  if (typeof code !== 'string' || !SQL_STATE.test(code)) return null;
  return { sqlState: code, isFatal: severity === 'FATAL' || severity === 'PANIC' || ENDS_SESSION.test(code) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
