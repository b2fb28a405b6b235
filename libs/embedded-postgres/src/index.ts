export { EmbeddedPostgresError } from './embedded-postgres-error.js';
export { EmbeddedPostgres, startEmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
export { findFreePort } from './free-port.js';
export type { ServerSettings } from './server-arguments.js';
