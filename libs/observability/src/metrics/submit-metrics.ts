import { EngineEvents } from '@deadman/domain';
import type { EngineEvent } from '@deadman/domain';
import type { Counter, Gauge, Histogram } from 'prom-client';
import { Instruments, seconds } from './instruments.js';
import type { Registry } from './metrics-registry.js';

/** What the api measures of submits. */
export class SubmitMetrics extends EngineEvents {
  readonly #submitted: Counter<'result'>;
  readonly #batchSize: Histogram;
  readonly #outboxAge: Gauge;

  constructor(registry: Registry) {
    super();
    const make = new Instruments(registry);
    this.#submitted = make.labelledCounter('jobs_submitted_total', 'Submits by what became of them', 'result', [
      'created',
      'replayed',
      'rejected',
    ]);
    this.#batchSize = make.histogram(
      'submit_batch_size',
      'Jobs in one micro-batch',
      [1, 2, 5, 10, 25, 50, 100, 250, 500],
    );
    this.#outboxAge = make.gauge('outbox_oldest_age_seconds', 'Age of the oldest wake-up that was not sent');
  }

  override emit(event: EngineEvent): void {
    if (event.kind === 'jobs-submitted') {
      this.#submitted.inc({ result: 'created' }, event.created);
      this.#submitted.inc({ result: 'replayed' }, event.replayed);
      this.#batchSize.observe(event.created + event.replayed);
    } else if (event.kind === 'submit-rejected') {
      this.#submitted.inc({ result: 'rejected' }, event.count);
    }
  }

  /** Sampled by whoever asks the store. */
  setOutboxAge(ageMs: number): void {
    this.#outboxAge.set(seconds(ageMs));
  }
}
