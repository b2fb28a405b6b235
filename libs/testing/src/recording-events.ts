import { EngineEvents } from '@deadman/domain';
import type { EngineEvent } from '@deadman/domain';

type Kind = EngineEvent['kind'];
type OfKind<K extends Kind> = Extract<EngineEvent, { kind: K }>;
type Wanted = Kind | ((event: EngineEvent) => boolean);

interface Waiter {
  readonly isMet: () => boolean;
  readonly resolve: () => void;
}

export interface UntilOptions {
  /** How many matching events to wait for. Default 1. */
  readonly count?: number;
  /** Bound against hanging. Milliseconds of real time, default 10 000. */
  readonly withinMs?: number;
}

/** Keeps every event, and lets a test wait for one instead of sleeping. */
export class RecordingEvents extends EngineEvents {
  readonly #events: EngineEvent[] = [];
  readonly #waiters = new Set<Waiter>();

  override emit(event: EngineEvent): void {
    this.#events.push(event);
    for (const waiter of this.#waiters) {
      if (waiter.isMet()) waiter.resolve();
    }
  }

  get all(): readonly EngineEvent[] {
    return this.#events;
  }

  of<K extends Kind>(kind: K): readonly OfKind<K>[] {
    return this.#events.filter((event): event is OfKind<K> => event.kind === kind);
  }

  /** Forgets what was recorded so far. */
  clear(): void {
    this.#events.length = 0;
  }

  /** The matching events, as soon as there are `count` of them; those already recorded count too. */
  async until<K extends Kind>(wanted: K, options?: UntilOptions): Promise<readonly OfKind<K>[]>;
  async until(wanted: (event: EngineEvent) => boolean, options?: UntilOptions): Promise<readonly EngineEvent[]>;
  async until(wanted: Wanted, { count = 1, withinMs = 10_000 }: UntilOptions = {}): Promise<readonly EngineEvent[]> {
    const matching = (): EngineEvent[] => this.#events.filter((event) => matches(event, wanted));
    const isMet = (): boolean => matching().length >= count;
    if (!isMet() && !(await this.#wait(isMet, withinMs)))
      throw this.#missing(wanted, count, matching().length, withinMs);
    return matching();
  }

  async #wait(isMet: () => boolean, withinMs: number): Promise<boolean> {
    let waiter!: Waiter;
    let timeout!: NodeJS.Timeout;
    try {
      return await new Promise<boolean>((resolve) => {
        waiter = { isMet, resolve: () => resolve(true) };
        this.#waiters.add(waiter);
        timeout = setTimeout(() => resolve(false), withinMs);
      });
    } finally {
      clearTimeout(timeout);
      this.#waiters.delete(waiter);
    }
  }

  #missing(wanted: Wanted, count: number, found: number, withinMs: number): Error {
    const what = typeof wanted === 'string' ? `"${wanted}" events` : 'matching events';
    const seen = [...new Set(this.#events.map((event) => event.kind))].join(', ') || 'none';
    return new Error(`${found} of ${count} ${what} within ${withinMs} ms; kinds seen: ${seen}`);
  }
}

function matches(event: EngineEvent, wanted: Wanted): boolean {
  return typeof wanted === 'string' ? event.kind === wanted : wanted(event);
}
