import { DeadmanError, WorkerRegistry } from '@deadman/domain';
import type { BeatReply, BeatRequest } from '@deadman/domain';

/**
 * What the API asks about live workers. The worker of this very process counts as soon as it has its handlers, not from
 * its first beat on, so that a job that is handed in right after the start is not said to have no worker.
 */
export class LiveWorkers extends WorkerRegistry {
  readonly #registry: WorkerRegistry;
  readonly #ownTypes: () => readonly string[];

  /** @param ownTypes what the worker here has handlers for; none before it starts. */
  constructor(registry: WorkerRegistry, ownTypes: () => readonly string[]) {
    super();
    this.#registry = registry;
    this.#ownTypes = ownTypes;
  }

  override beat(request: BeatRequest): Promise<BeatReply> {
    return this.#registry.beat(request);
  }

  override retire(incarnation: string): Promise<void> {
    return this.#registry.retire(incarnation);
  }

  /** Throws `store-unavailable` until the worker here has started: nothing is certain before. */
  override async liveTypes(withinMs: number): Promise<ReadonlySet<string>> {
    const own = this.#ownTypes();
    if (own.length === 0) throw new DeadmanError('store-unavailable', 'The worker of this process has not started yet');
    return new Set([...own, ...(await this.#registry.liveTypes(withinMs))]);
  }
}
