import type { Logger } from 'typeorm';

/** TypeORM writes to the console by default, also what it throws anyway. Whoever calls the store decides what is logged. */
export const SILENT: Logger = {
  logQuery: () => undefined,
  logQueryError: () => undefined,
  logQuerySlow: () => undefined,
  logSchemaBuild: () => undefined,
  logMigration: () => undefined,
  log: () => undefined,
};
