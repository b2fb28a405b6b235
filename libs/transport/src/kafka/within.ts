import { DeadmanError } from '@deadman/domain';
import type { Clock } from '@deadman/domain';

/** Brokers that were asked have not answered in time. */
export class TookTooLong extends DeadmanError {
  constructor(what: string, limitMs: number) {
    super('transport-unavailable', `${what} took longer than ${limitMs} ms`);
  }
}

/** What the work returns or throws; `TookTooLong` when it takes longer than `limitMs`. The work itself goes on. */
export async function within<Value>(clock: Clock, limitMs: number, what: string, work: Promise<Value>): Promise<Value> {
  const done = new AbortController();
  const timeout = clock.sleep(limitMs, done.signal).then(() => {
    if (done.signal.aborted) return work;
    throw new TookTooLong(what, limitMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    done.abort();
  }
}

/** Waits for work whose outcome is nobody's business, and no longer than `limitMs`. Never throws. */
export async function bounded(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const stop = (): void => done.abort();
  void work.then(stop, stop);
  await clock.sleep(limitMs, done.signal);
}
