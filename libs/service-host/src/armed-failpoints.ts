import type { FailpointOrder } from '@deadman/config';
import { DeadmanError, Failpoints, NO_FAILPOINTS } from '@deadman/domain';
import type { Clock, Failpoint, Random } from '@deadman/domain';
import type { Logger } from '@deadman/observability';

export interface FailpointDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Logger, 'warn'>;
  /** Ends this process as `kill -9` does, and does not return. A test puts something else in its place. */
  readonly kill?: () => void;
}

/** An order, and what has become of it so far. */
interface Armed {
  readonly order: FailpointOrder;
  passed: number;
  /** Null once the passage that was waited for has come. */
  dueAtMs: number | null;
}

/** The failpoints that were ordered; none costs nothing. */
export function armFailpoints(orders: readonly FailpointOrder[], deps: FailpointDeps): Failpoints {
  return orders.length === 0 ? NO_FAILPOINTS : new ArmedFailpoints(orders, deps);
}

class ArmedFailpoints extends Failpoints {
  readonly #armed = new Map<Failpoint, Armed>();
  readonly #deps: FailpointDeps;

  constructor(orders: readonly FailpointOrder[], deps: FailpointDeps) {
    super();
    this.#deps = deps;
    for (const order of orders) this.#armed.set(order.place, { order, passed: 0, dueAtMs: this.#dueAtMs(order) });
    deps.logger.warn(
      { event: 'failpoints.armed', failpoints: orders },
      'Failpoints are armed: this process will misbehave',
    );
  }

  override at(place: Failpoint): Promise<void> | undefined {
    const armed = this.#armed.get(place);
    if (armed === undefined || !this.#isHit(armed)) return undefined;
    const { action } = armed.order;
    this.#deps.logger.warn({ event: 'failpoint.hit', failpoint: place, action: action.kind }, 'A failpoint was hit');
    switch (action.kind) {
      case 'kill':
        (this.#deps.kill ?? killSelf)();
        return undefined;
      case 'pause':
        return this.#deps.clock.sleep(action.ms);
      case 'throw':
        return Promise.reject(new DeadmanError('unknown-outcome', `The failpoint ${place} throws`));
    }
  }

  #isHit(armed: Armed): boolean {
    const { when } = armed.order;
    armed.passed += 1;
    switch (when.kind) {
      case 'always':
        return true;
      case 'nth':
        return armed.passed === when.nth;
      case 'aged':
        if (armed.dueAtMs === null || this.#deps.clock.monotonicMs() < armed.dueAtMs) return false;
        armed.dueAtMs = null;
        return true;
      case 'chance':
        return this.#deps.random.next() < when.chance;
    }
  }

  #dueAtMs({ when }: FailpointOrder): number | null {
    return when.kind === 'aged' ? this.#deps.clock.monotonicMs() + when.ms : null;
  }
}

function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}
