import type { JobDefaults } from './jobs/submission-reader.js';

/** What the configuration says that controllers need. */
export interface ApiSettings {
  /** Names of the declared queues; the default one among them. */
  readonly queues: readonly string[];
  readonly defaults: JobDefaults;
}

/** Injects `ApiSettings`. */
export const API_SETTINGS = Symbol('deadman.api-settings');
