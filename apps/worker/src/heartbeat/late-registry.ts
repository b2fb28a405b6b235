import { DeadmanError, WorkerRegistry } from '@deadman/domain';
import type { BeatReply, BeatRequest } from '@deadman/domain';

/** A registry that cannot be reached until it was: nothing is lost by asking it before. */
export class LateRegistry extends WorkerRegistry {
  #registry: WorkerRegistry | null = null;

  found(registry: WorkerRegistry): void {
    this.#registry = registry;
  }

  override async beat(request: BeatRequest): Promise<BeatReply> {
    return this.#get().beat(request);
  }

  override async retire(incarnation: string): Promise<void> {
    await this.#get().retire(incarnation);
  }

  override async liveTypes(withinMs: number): Promise<ReadonlySet<string>> {
    return this.#get().liveTypes(withinMs);
  }

  #get(): WorkerRegistry {
    if (this.#registry === null) throw new DeadmanError('store-unavailable', 'PostgreSQL was not reached yet');
    return this.#registry;
  }
}
