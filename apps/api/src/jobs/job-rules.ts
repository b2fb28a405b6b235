export { JOB_RULES, JOB_TYPE } from '@deadman/domain';

/** Bytes of the bodies of one job and of a batch. */
export const BODY_LIMIT_BYTES = 1_048_576;
export const BATCH_BODY_LIMIT_BYTES = 4_194_304;
