import type { JobStore } from '@deadman/domain';
import type { HealthCheck } from './background-check.js';

/** Age of the oldest unsent wake-up from which something is wrong with sending. Milliseconds. */
const OUTBOX_OLD_MS = 60_000;

/** Critical everywhere: nothing can be decided without the database. */
export function storeCheck(store: Pick<JobStore, 'ping'>): HealthCheck {
  return {
    name: 'postgres',
    critical: true,
    effect: 'no job can be accepted, started or finished',
    check: () => store.ping(),
  };
}

/** Degrades the api: jobs are safe, but start later, by the idle claim. */
export function outboxCheck(store: Pick<JobStore, 'outboxAgeMs'>, maxAgeMs = OUTBOX_OLD_MS): HealthCheck {
  return {
    name: 'outbox',
    critical: false,
    effect: 'new jobs start later; none is lost',
    check: async () => {
      const ageMs = await store.outboxAgeMs();
      if (ageMs > maxAgeMs) throw new Error(`the oldest wake-up waits for ${Math.round(ageMs / 1_000)} s`);
    },
  };
}
