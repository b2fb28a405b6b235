import { isUuid } from '@deadman/domain';
import type { DeathNotice } from '@deadman/domain';
import { isUnreadable } from './unreadable-records.js';

/** What is written. A reader takes this version and the one before, if there was one, so that old and new releases can run together. */
const VERSION = 1;
const OLDEST_VERSION = 1;

/** The largest value that is looked at: a ticket of the largest micro-batch is a tenth of it. Bytes. */
const MAX_VALUE_BYTES = 256 * 1024;

/** The largest attempt that the store's column holds. */
const MAX_ATTEMPT = 2 ** 31 - 1;

export const MALFORMED_REASONS = [
  'no-value',
  'too-large',
  'unreadable',
  'not-json',
  'version',
  'shape',
  'not-a-uuid',
] as const;

/** Why a message, or one id of it, can never mean anything. An `unreadable` one lies in a batch that nothing here unpacks. */
export type MalformedReason = (typeof MALFORMED_REASONS)[number];

export type DecodedTicket =
  /** `notUuids` says how many ids were dropped. All may be, and then there is nothing to deliver. */
  | { readonly kind: 'ticket'; readonly jobIds: readonly string[]; readonly notUuids: number }
  | { readonly kind: 'malformed'; readonly reason: MalformedReason };

export type DecodedDeath =
  | { readonly kind: 'death'; readonly death: DeathNotice }
  | { readonly kind: 'malformed'; readonly reason: MalformedReason };

export function encodeTicket(jobIds: readonly string[]): string {
  return JSON.stringify({ v: VERSION, ids: jobIds });
}

export function encodeDeath({ jobId, attempt }: DeathNotice): string {
  return JSON.stringify({ v: VERSION, id: jobId, attempt });
}

/** Reads `{v, ids}`. Whatever the bytes are, it answers: a message that threw would come again for ever. */
export function decodeTicket(value: Buffer | null): DecodedTicket {
  const message = decode(value);
  if (typeof message === 'string') return { kind: 'malformed', reason: message };
  const { ids } = message;
  if (!Array.isArray(ids) || ids.length === 0) return { kind: 'malformed', reason: 'shape' };
  const jobIds = ids.filter((id): id is string => typeof id === 'string' && isUuid(id));
  return { kind: 'ticket', jobIds, notUuids: ids.length - jobIds.length };
}

/** Reads `{v, id, attempt}`. Never throws. */
export function decodeDeath(value: Buffer | null): DecodedDeath {
  const message = decode(value);
  if (typeof message === 'string') return { kind: 'malformed', reason: message };
  const { id, attempt } = message;
  if (typeof id !== 'string' || !isUuid(id)) return { kind: 'malformed', reason: 'not-a-uuid' };
  if (!isAttempt(attempt)) return { kind: 'malformed', reason: 'shape' };
  return { kind: 'death', death: { jobId: id, attempt } };
}

function decode(value: Buffer | null): Record<string, unknown> | MalformedReason {
  if (value === null || value.length === 0) return 'no-value';
  if (value.length > MAX_VALUE_BYTES) return 'too-large';
  if (isUnreadable(value)) return 'unreadable';
  const message = parse(value);
  if (message === undefined) return 'not-json';
  if (!isRecord(message)) return 'shape';
  return isKnownVersion(message['v']) ? message : 'version';
}

function parse(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString('utf8'));
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isKnownVersion(version: unknown): boolean {
  return typeof version === 'number' && version >= OLDEST_VERSION && version <= VERSION && Number.isInteger(version);
}

function isAttempt(attempt: unknown): attempt is number {
  return typeof attempt === 'number' && Number.isInteger(attempt) && attempt >= 1 && attempt <= MAX_ATTEMPT;
}
