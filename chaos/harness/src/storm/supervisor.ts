import type { ServiceName, Settings } from '@deadman/services';
import type { LiveProcess, Site } from '../run/site.js';

/** Starts services again as soon as they end, whatever ended them, as a deployment does. */
export class Supervisor {
  readonly #site: Site;
  readonly #lives: Promise<void>[] = [];
  readonly #now = new Map<string, LiveProcess>();
  #isOver = false;
  /** Why one could not be started again. */
  failure: unknown = null;

  constructor(site: Site) {
    this.#site = site;
  }

  /** Takes charge of services, of which none runs yet. */
  keep(service: ServiceName, instances: readonly string[], settings?: Settings): void {
    for (const instance of instances) {
      const living = this.#live(service, instance, settings);
      this.#lives.push(living.catch((error: unknown) => void (this.failure ??= error)));
    }
  }

  /** The present life of a service; null while it is being started for the first time. */
  life(instance: string): LiveProcess | null {
    return this.#now.get(instance) ?? null;
  }

  get instances(): readonly string[] {
    return [...this.#now.keys()];
  }

  /** Starts nothing again from now on. What runs goes on. */
  stop(): void {
    this.#isOver = true;
    if (this.failure !== null) throw this.failure;
  }

  async #live(service: ServiceName, instance: string, settings?: Settings): Promise<void> {
    while (!this.#isOver) {
      const live = await this.#site.launch(service, instance, settings);
      this.#now.set(instance, live);
      await live.process.ended;
    }
  }
}
