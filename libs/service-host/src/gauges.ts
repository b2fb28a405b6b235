import type { JobStore } from '@deadman/domain';
import type { EventMetrics } from '@deadman/observability';

/** Ended states are counted no further than this, so that a sample costs the same whatever was kept. */
const COUNT_AT_MOST = 10_000;

/**
 * Samples what only the store knows, for the roles that this process has, so that a scrape never asks the database.
 * Throws what `JobStore` throws.
 */
export async function sampleGauges(
  store: JobStore,
  { submits, reaper, deadLetters }: EventMetrics,
  queues: readonly string[],
): Promise<void> {
  reaper?.setQueueStats(await store.queueStats(queues, COUNT_AT_MOST));
  submits?.setOutboxAge(await store.outboxAgeMs());
  deadLetters?.setDeadLetters(await store.countJobs({ states: ['DEAD'] }, COUNT_AT_MOST));
}
