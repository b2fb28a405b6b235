import { setTimeout as sleep } from 'node:timers/promises';

/** How long to look away between two looks. Milliseconds; short beside everything waited for here. */
const LOOK_EVERY_MS = 25;

/** Looks until `done` says yes. Answers whether it did within `limitMs`; never throws for lack of time. */
export async function waitUntil(done: () => boolean, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!done()) {
    if (performance.now() > deadline) return false;
    await sleep(LOOK_EVERY_MS);
  }
  return true;
}
