import { DeadmanError } from '@deadman/domain';
import type { ErrorCode } from '@deadman/domain';

/**
 * What goes wrong with one call to a port.
 *
 * `refused`      nothing happened, and the caller is told so.
 * `request-lost` nothing happened, and the caller cannot know.
 * `reply-lost`   it happened, and the caller cannot know.
 * `late`         the caller cannot know, and it happens when `at` resolves.
 * `slow`         it happens, and the caller hears of it when `until` resolves.
 * `held`         it happens when `until` resolves, and the caller hears of it then.
 */
export type CallFault =
  | { readonly kind: 'refused'; readonly code: ErrorCode }
  | { readonly kind: 'request-lost' }
  | { readonly kind: 'reply-lost' }
  | { readonly kind: 'late'; readonly at: Promise<void> }
  | { readonly kind: 'slow'; readonly until: Promise<void> }
  | { readonly kind: 'held'; readonly until: Promise<void> };

export const AWAY: CallFault = { kind: 'refused', code: 'store-unavailable' };

type Act = () => Promise<unknown>;

/** The same port, some of whose calls go wrong. `faultOf` is asked at each call. */
export function withFaults<Port extends object>(port: Port, faultOf: (method: string) => CallFault | null): Port {
  return new Proxy(port, {
    get: (target, name): unknown => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || typeof name !== 'string') return method;
      return (...input: unknown[]) =>
        suffer(faultOf(name), async () => Reflect.apply(method, target, input) as unknown);
    },
  });
}

async function suffer(fault: CallFault | null, act: Act): Promise<unknown> {
  switch (fault?.kind) {
    case undefined:
      return act();
    case 'refused':
      throw new DeadmanError(fault.code);
    case 'request-lost':
      throw new DeadmanError('unknown-outcome');
    case 'reply-lost':
      await act();
      throw new DeadmanError('unknown-outcome');
    case 'late':
      void fault.at.then(act);
      throw new DeadmanError('unknown-outcome');
    case 'held':
      await fault.until;
      return act();
    case 'slow': {
      const result = await act();
      await fault.until;
      return result;
    }
  }
}
