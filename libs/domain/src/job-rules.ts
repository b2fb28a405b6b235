/** What a job may be, whoever hands it in: a client of the api, a handler, or a program by SQL (`deadman.submit`). */
export const JOB_RULES = {
  typeMaxLength: 128,
  queueMaxLength: 64,
  tagsMax: 20,
  /** In code points. */
  tagMaxLength: 256,
  keyMaxLength: 255,
  /** Bytes of the payload's text as it was received. */
  payloadMaxBytes: 262_144,
  payloadMaxDepth: 100,
  /** Ten years, the leap days counted. Further ahead is far more often a slip of units than a wish. */
  aheadMaxSeconds: 3_652 * 86_400,
  maxAttemptsMax: 1_000,
  /** A week. */
  timeoutMaxSeconds: 604_800,
  /** A year. */
  retryMaxSeconds: 31_536_000,
  retryFactorMax: 1_000,
  batchMaxJobs: 1_000,
} as const;

/** Types and queues: parts of letters and digits, joined by `.`, `_` or `-`. */
export const JOB_TYPE = /^[a-z0-9]+([._-][a-z0-9]+)*$/;
