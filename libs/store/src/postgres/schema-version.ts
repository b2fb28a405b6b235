import { setTimeout as wait } from 'node:timers/promises';
import { DeadmanError, isDeadmanError } from '@deadman/domain';
import { SCHEMA_VERSION } from './migration-files.js';
import type { PostgresDatabase } from './postgres-database.js';
import { statement } from './statement.js';

const READ_SCHEMA_VERSION = statement('read-schema-version');

/** What a database says of its schema. Version 0 is one that was never migrated. */
export interface SchemaState {
  readonly version: number;
  /** The oldest code that can run on it, by the schema version it is written for. */
  readonly oldestCompatible: number;
}

export async function readSchemaState(db: PostgresDatabase): Promise<SchemaState> {
  try {
    const rows = await db.read<{ version: number; oldest_compatible: number }>(READ_SCHEMA_VERSION);
    return { version: rows[0]?.version ?? 0, oldestCompatible: rows[0]?.oldest_compatible ?? 0 };
  } catch (error) {
    if (isDeadmanError(error, 'schema-incompatible')) return { version: 0, oldestCompatible: 0 };
    throw error;
  }
}

/**
 * `compatible`  this code can run on the schema: it has all that the code needs, and a newer release that migrated first
 *               has left it what it needs (expand, migrate, contract).
 * `behind`      the schema lacks migrations; waiting helps.
 * `ahead`       the schema has left this code behind; only a newer release helps.
 */
export function judgeSchema(state: SchemaState, codeVersion = SCHEMA_VERSION): 'compatible' | 'behind' | 'ahead' {
  if (state.version < codeVersion) return 'behind';
  return state.oldestCompatible <= codeVersion ? 'compatible' : 'ahead';
}

/**
 * Checks that this release can run on the database's schema.
 *
 * @throws DeadmanError `schema-incompatible`, or as the store does.
 */
export async function checkSchema(db: PostgresDatabase): Promise<void> {
  const state = await readSchemaState(db);
  const judgement = judgeSchema(state);
  if (judgement === 'compatible') return;
  throw new DeadmanError(
    'schema-incompatible',
    judgement === 'behind'
      ? `The schema has version ${state.version}, and this release needs ${SCHEMA_VERSION}: run the migrations`
      : `The schema serves releases from version ${state.oldestCompatible} on, and this one is ${SCHEMA_VERSION}`,
  );
}

/**
 * Waits until the migrations have been run and the database can be reached. A schema that is ahead is thrown at once.
 *
 * @throws DeadmanError `schema-incompatible` when it is ahead, or the last error once the signal is aborted.
 */
export async function waitForSchema(
  db: PostgresDatabase,
  { signal, everyMs = 1_000 }: { readonly signal: AbortSignal; readonly everyMs?: number },
): Promise<void> {
  for (;;) {
    try {
      return await checkSchema(db);
    } catch (error) {
      if (signal.aborted || !isDeadmanError(error) || !error.retryable || (await isAhead(db))) throw error;
    }
    await wait(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

async function isAhead(db: PostgresDatabase): Promise<boolean> {
  try {
    return judgeSchema(await readSchemaState(db)) === 'ahead';
  } catch {
    return false;
  }
}
