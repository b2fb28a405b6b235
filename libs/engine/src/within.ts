import { DeadmanError } from '@deadman/domain';
import type { Clock } from '@deadman/domain';

/**
 * The answer of a call, if it comes in time. Otherwise throws `unknown-outcome`: the call goes on by itself, and what it
 * does may still happen.
 */
export async function within<T>(call: Promise<T>, limitMs: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(limitMs, () => {
      reject(new DeadmanError('unknown-outcome', `No answer within ${Math.round(limitMs)} ms`));
    });
    call.then(resolve, reject).finally(() => timer.cancel());
  });
}
