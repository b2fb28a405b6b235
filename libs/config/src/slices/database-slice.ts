import { defineSlice } from '../define-config.js';
import { REQUIRED, secretUrl, wholeNumber } from '../variable.js';

const URL_OF_DATABASE = {
  name: 'DATABASE_URL',
  what: 'Where PostgreSQL is. Standalone starts an embedded one when this is absent; the other services need it.',
  schemes: ['postgres', 'postgresql'],
} as const;

const TUNING = {
  poolSize: wholeNumber({
    name: 'DEADMAN_DATABASE_POOL_SIZE',
    what: 'Connections that a process opens at most. The heartbeat has one of its own beside them.',
    default: 10,
    min: 2,
    max: 1_000,
  }),
  statementTimeoutMs: wholeNumber({
    name: 'DEADMAN_DATABASE_STATEMENT_TIMEOUT_MS',
    what: 'Longest run of one statement. Milliseconds. Heartbeats and lists have shorter ones of their own.',
    default: 5_000,
    min: 100,
    max: 600_000,
  }),
  connectTimeoutMs: wholeNumber({
    name: 'DEADMAN_DATABASE_CONNECT_TIMEOUT_MS',
    what: 'Longest wait for a connection. Milliseconds.',
    default: 5_000,
    min: 100,
    max: 600_000,
  }),
};

/** For services that cannot run without a database of somebody else's. */
export const databaseSlice = defineSlice('Database', {
  url: secretUrl({ ...URL_OF_DATABASE, default: REQUIRED }),
  ...TUNING,
});

/** For standalone: no URL means the embedded server. */
export const optionalDatabaseSlice = defineSlice('Database', {
  url: secretUrl({ ...URL_OF_DATABASE, default: null }),
  ...TUNING,
});
