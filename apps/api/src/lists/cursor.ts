import { hash } from 'node:crypto';
import { isUuid } from '@deadman/domain';
import type { Position } from '@deadman/domain';
import { bad, good } from '../http/checked.js';
import type { Checked } from '../http/checked.js';
import { fault } from '../problems/fault.js';

/**
 * Where a page begins, opaque to clients: the position after which it does, and a digest of the list that it belongs to,
 * so that a cursor cannot be carried to other filters, where it would silently skip rows. Nothing in it is secret, and
 * forging one gains no more than asking.
 */
export function encodeCursor(parts: readonly (string | number)[], list: string): string {
  return Buffer.from([digest(list), ...parts].join(':')).toString('base64url');
}

/** The parts of a cursor. `list` says what the list is of, its filters and order included. */
export function decodeCursor(cursor: string, list: string): Checked<readonly string[]> {
  const [owner, ...parts] = Buffer.from(cursor, 'base64url').toString('latin1').split(':');
  const isWhole = encodeAgain(owner, parts) === cursor;
  if (!isWhole || parts.length === 0) return bad([fault('malformed-cursor', { parameter: 'cursor' })]);
  return owner === digest(list) ? good(parts) : bad([fault('foreign-cursor', { parameter: 'cursor' })]);
}

export function positionCursor({ createdAt, id }: Position, list: string): string {
  return encodeCursor([createdAt.getTime(), id], list);
}

export function readPosition(cursor: string, list: string): Checked<Position> {
  const parts = decodeCursor(cursor, list);
  if (!parts.ok) return parts;
  const [time = '', id = ''] = parts.value;
  const isPosition = /^\d{1,15}$/.test(time) && isUuid(id) && parts.value.length === 2;
  const createdAt = new Date(Number(time));
  return isPosition && createdAt.getUTCFullYear() <= 9_999
    ? good({ createdAt, id })
    : bad([fault('malformed-cursor', { parameter: 'cursor' })]);
}

function encodeAgain(owner: string | undefined, parts: readonly string[]): string {
  return Buffer.from([owner, ...parts].join(':'), 'latin1').toString('base64url');
}

function digest(list: string): string {
  return hash('sha256', list, 'base64url').slice(0, 11);
}
