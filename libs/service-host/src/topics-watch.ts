import { isDeadmanError } from '@deadman/domain';
import type { Clock } from '@deadman/domain';
import type { HealthCheck, HealthRegistry, Logger } from '@deadman/observability';

/** Time between two looks, until all is well. Milliseconds; a guess. */
const LOOK_AGAIN_MS = 10_000;

export interface TopicsWatchDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly health: Pick<HealthRegistry, 'recheck'>;
}

/**
 * Whether the topics that a service sends to are made as its configuration says. What a consumer ends for must not end who
 * only sends: jobs are taken in, and the dead are reaped, whatever becomes of wake-ups. So it is told: a line in the log,
 * and a check that is down until somebody has mended the topics.
 */
export class TopicsWatch {
  readonly #deps: TopicsWatchDeps;
  #fault: Error | null = null;

  constructor(deps: TopicsWatchDeps) {
    this.#deps = deps;
  }

  get check(): HealthCheck {
    return {
      name: 'topics',
      critical: false,
      effect: 'wake-ups of some jobs cannot be sent; workers find these by themselves',
      check: async () => {
        // Of an error with a code, health would show the code alone.
        if (this.#fault !== null) throw new Error(this.#fault.message);
      },
    };
  }

  /**
   * Looks until the topics are found well, or the signal aborts. Brokers that are away are waited for in silence: another
   * check tells of them.
   *
   * @param look throws `configuration-invalid` for topics that are made otherwise.
   */
  async watch(look: () => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const error = await look().then(
        () => null,
        (failure: unknown) => failure,
      );
      if (signal.aborted) return;
      if (error === null || isDeadmanError(error, 'configuration-invalid')) await this.#tell(error);
      if (error === null) return;
      await this.#deps.clock.sleep(LOOK_AGAIN_MS, signal);
    }
  }

  async #tell(fault: Error | null): Promise<void> {
    if (fault?.message === this.#fault?.message) return;
    this.#fault = fault;
    const { logger, health } = this.#deps;
    if (fault !== null) logger.error({ event: 'kafka.topics-invalid', err: fault }, 'Topics are not as configured');
    await health.recheck();
  }
}
