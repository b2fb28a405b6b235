import { DeadmanError } from '@deadman/domain';
import type { ErrorCode } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { isConnectionSound, translateError } from './translate-error.js';
import type { Stage } from './translate-error.js';

const answer = (code: string, severity = 'ERROR'): Error =>
  Object.assign(new Error('from the server'), { code, severity });
const broken = (message: string, code?: string): Error => Object.assign(new Error(message), code && { code });

const ANSWERS: readonly (readonly [string, ErrorCode])[] = [
  ['22001', 'data-rejected'],
  ['22021', 'data-rejected'],
  ['22P02', 'data-rejected'],
  ['22P05', 'data-rejected'],
  ['23502', 'data-rejected'],
  ['23505', 'data-rejected'],
  ['23514', 'data-rejected'],
  ['54000', 'data-rejected'],
  ['57014', 'statement-timeout'],
  ['40001', 'transaction-conflict'],
  ['40P01', 'transaction-conflict'],
  ['55P03', 'transaction-conflict'],
  ['40003', 'unknown-outcome'],
  ['3F000', 'schema-incompatible'],
  ['42P01', 'schema-incompatible'],
  ['42703', 'schema-incompatible'],
  ['25006', 'store-unavailable'],
  ['53100', 'store-unavailable'],
  ['53200', 'store-unavailable'],
  ['XX000', 'store-unavailable'],
];

/** The session ended, or the connection did: what becomes of it depends on how far the request had come. */
const BREAKS: readonly (readonly [string, Error, ErrorCode])[] = [
  ['an administrator ended the session', answer('57P01', 'FATAL'), 'unknown-outcome'],
  ['an administrator ended the session, in German', answer('57P01', 'FATAL: Abbruch'), 'unknown-outcome'],
  ['the server crashed', answer('57P02', 'FATAL'), 'unknown-outcome'],
  ['the database was dropped', answer('57P04', 'FATAL'), 'unknown-outcome'],
  ['the server lost the connection', answer('08006', 'FATAL'), 'unknown-outcome'],
  ['the server panicked', answer('XX000', 'PANIC'), 'unknown-outcome'],
  ['the connection was reset', broken('read ECONNRESET', 'ECONNRESET'), 'unknown-outcome'],
  ['the connection was closed', broken('Connection terminated unexpectedly'), 'unknown-outcome'],
  ['the pipe broke', broken('write EPIPE', 'EPIPE'), 'unknown-outcome'],
  ['the answer did not come in time', broken('Query read timeout'), 'unknown-outcome'],
  ['the server was starting', answer('57P03', 'FATAL'), 'store-unavailable'],
  ['there were too many connections', answer('53300', 'FATAL'), 'store-unavailable'],
  ['the session had been idle', answer('57P05', 'FATAL'), 'store-unavailable'],
  ['the transaction had been idle', answer('25P03', 'FATAL'), 'store-unavailable'],
  ['the password was wrong', answer('28P01', 'FATAL'), 'store-unavailable'],
  ['there is no such database', answer('3D000', 'FATAL'), 'store-unavailable'],
  [
    'the driver did not send',
    broken('Client has encountered a connection error and is not queryable'),
    'store-unavailable',
  ],
];

const STAGES: readonly Stage[] = ['unsent', 'read', 'open', 'write'];

describe('translateError', () => {
  it.each(ANSWERS)('takes the answer %s for %s at every stage', (sqlState, code) => {
    for (const stage of STAGES) expect(translateError(answer(sqlState), stage).code).toBe(code);
  });

  it.each(BREAKS)('when %s: a write has the outcome it can be sure of', (_what, error, code) => {
    expect(translateError(error, 'write').code).toBe(code);
  });

  it.each(BREAKS)('when %s: what cannot have committed has changed nothing', (_what, error) => {
    for (const stage of ['unsent', 'read', 'open'] as const) {
      expect(translateError(error, stage).code).toBe('store-unavailable');
    }
  });

  it('takes whatever it does not know for a write that may have happened', () => {
    for (const odd of [undefined, null, 'text', {}, new Error('?'), broken('?', 'EWHAT')]) {
      expect(translateError(odd, 'write').code).toBe('unknown-outcome');
    }
  });

  it('keeps what the driver said as the cause, and translates once', () => {
    const cause = answer('40P01');
    const error = translateError(cause, 'write');
    expect(error.cause).toBe(cause);
    expect(translateError(error, 'unsent')).toBe(error);
    expect(error).toBeInstanceOf(DeadmanError);
  });
});

describe('isConnectionSound', () => {
  it('trusts a connection only when the server answered on it and goes on', () => {
    expect(isConnectionSound(answer('23505'))).toBe(true);
    expect(isConnectionSound(answer('57014'))).toBe(true);
    for (const [, error] of BREAKS) expect(isConnectionSound(error)).toBe(false);
    expect(isConnectionSound(new TypeError('a bug'))).toBe(false);
  });

  it('gives up a connection whose prepared statements the server has forgotten', () => {
    expect(isConnectionSound(answer('26000'))).toBe(false);
    expect(isConnectionSound(answer('0A000'))).toBe(false);
  });
});
