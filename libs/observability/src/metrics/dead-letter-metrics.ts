import { EngineEvents } from '@deadman/domain';
import type { EngineEvent } from '@deadman/domain';
import type { Counter, Gauge } from 'prom-client';
import { BoundedLabel } from './bounded-label.js';
import { Instruments } from './instruments.js';
import type { Registry } from './metrics-registry.js';

/** Why jobs die, as `transition` says it. */
const REASONS = ['exhausted', 'non-retryable', 'crash-loop', 'snooze-limit'] as const;

/** What the dead-letter consumer measures. */
export class DeadLetterMetrics extends EngineEvents {
  readonly #reasons = new BoundedLabel(REASONS);
  readonly #recorded: Counter<'reason'>;
  readonly #letters: Gauge;

  constructor(registry: Registry) {
    super();
    const make = new Instruments(registry);
    this.#recorded = make.labelledCounter('dead_letters_recorded_total', 'Recorded dead letters', 'reason', REASONS);
    this.#letters = make.gauge('dead_letters', 'Dead letters that are kept, counted up to a bound');
  }

  override emit(event: EngineEvent): void {
    if (event.kind === 'dead-letter-recorded') this.#recorded.inc({ reason: this.#reasons.of(event.reason) });
  }

  /** Sampled by whoever asks the store. */
  setDeadLetters(count: number): void {
    this.#letters.set(count);
  }
}
