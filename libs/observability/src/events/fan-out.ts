import { EngineEvents } from '@deadman/domain';
import type { EngineEvent } from '@deadman/domain';

/** Tells of a listener that threw: `process.emitWarning`, unless a test wants to see it. */
export type Warn = (message: string) => void;

/**
 * Passes each event to every listener. One that throws is told of once and neither stops the others nor the engine,
 * which is in the middle of a job when it speaks.
 */
export class FanOut extends EngineEvents {
  readonly #listeners: readonly EngineEvents[];
  readonly #warn: Warn;
  readonly #blamed = new Set<EngineEvents>();

  constructor(listeners: readonly EngineEvents[], warn: Warn = (message) => process.emitWarning(message)) {
    super();
    this.#listeners = listeners;
    this.#warn = warn;
  }

  override emit(event: EngineEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener.emit(event);
      } catch (error) {
        this.#blame(listener, event, error);
      }
    }
  }

  #blame(listener: EngineEvents, event: EngineEvent, error: unknown): void {
    if (this.#blamed.has(listener)) return;
    this.#blamed.add(listener);
    this.#warn(`${listener.constructor.name} failed on the event ${event.kind}: ${String(error)}`);
  }
}

export function fanOut(...listeners: readonly EngineEvents[]): EngineEvents {
  return new FanOut(listeners);
}
