import { DeadmanError, Silence } from '@deadman/domain';
import type { Clock } from '@deadman/domain';

/** Looks at the time while one limit passes. */
const LOOKS = 10;

/** Brokers that were asked have not answered in time. */
export class TookTooLong extends DeadmanError {
  constructor(what: string, limitMs: number) {
    super('transport-unavailable', `${what} took longer than ${limitMs} ms`);
  }
}

/**
 * What the work returns or throws; `TookTooLong` when it takes longer than `limitMs`. The work itself goes on. A stall of
 * this thread counts for little: an answer that came meanwhile would be read after the limit, which is not the brokers' fault.
 */
export async function within<Value>(clock: Clock, limitMs: number, what: string, work: Promise<Value>): Promise<Value> {
  const done = new AbortController();
  const timeout = standFor(clock, limitMs, done.signal).then(() => {
    if (done.signal.aborted) return work;
    throw new TookTooLong(what, limitMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    done.abort();
  }
}

/** Resolves after `limitMs` in which this thread had its turns, or when the signal aborts. */
async function standFor(clock: Clock, limitMs: number, signal: AbortSignal): Promise<void> {
  const everyMs = limitMs / LOOKS;
  const silence = new Silence(clock.monotonicMs(), everyMs);
  let passedMs = 0;
  while (!signal.aborted && passedMs < limitMs) {
    await clock.sleep(Math.min(everyMs, limitMs - passedMs), signal);
    passedMs = silence.look(clock.monotonicMs());
  }
}

/** Waits for work whose outcome is nobody's business, and no longer than `limitMs`. Never throws. */
export async function bounded(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const stop = (): void => done.abort();
  void work.then(stop, stop);
  await clock.sleep(limitMs, done.signal);
}
