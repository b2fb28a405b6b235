/**
 * Every operational error of Deadman. `retryable` says whether the same request can be repeated as it is; whether the
 * act may have happened is said by each port method, and by `unknown-outcome` here.
 */
export const ERROR_CODES = {
  'store-unavailable': { retryable: true, title: 'The database cannot be reached; nothing was changed' },
  'unknown-outcome': {
    retryable: true,
    title: 'The connection was lost while a change was under way; it may have happened',
  },
  'transaction-conflict': {
    retryable: true,
    title: 'The database broke off a transaction because of another one; nothing was changed',
  },
  'statement-timeout': { retryable: true, title: 'A statement took longer than it may; nothing was changed' },
  'data-rejected': { retryable: false, title: 'The database refuses a value; nothing was changed' },
  'schema-incompatible': { retryable: true, title: 'The database schema is not one this release can run with' },
  'lease-store-unavailable': { retryable: true, title: 'The lease store cannot be reached' },
  'transport-unavailable': {
    retryable: true,
    title: 'The transport cannot be reached; some messages may have been sent',
  },
  overloaded: { retryable: true, title: 'More work is waiting than can be taken on' },
  'shutting-down': { retryable: true, title: 'The service is stopping' },
  'handler-invalid': { retryable: false, title: 'A handler cannot be registered' },
  'configuration-invalid': { retryable: false, title: 'The configuration is not valid' },
} as const satisfies Record<string, { retryable: boolean; title: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** An operational error. Callers match on `code`, never on the message. */
export class DeadmanError extends Error {
  override readonly name = 'DeadmanError';
  readonly code: ErrorCode;
  readonly retryable: boolean;

  constructor(code: ErrorCode, detail?: string, options?: { cause?: unknown }) {
    super(detail ?? ERROR_CODES[code].title, options);
    this.code = code;
    this.retryable = ERROR_CODES[code].retryable;
  }
}

export function isDeadmanError(error: unknown, code?: ErrorCode): error is DeadmanError {
  return error instanceof DeadmanError && (code === undefined || error.code === code);
}
