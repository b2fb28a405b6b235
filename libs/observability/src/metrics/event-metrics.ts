import { EngineEvents } from '@deadman/domain';
import type { Clock, EngineEvent } from '@deadman/domain';
import { DeadLetterMetrics } from './dead-letter-metrics.js';
import type { Registry } from './metrics-registry.js';
import { ReaperMetrics } from './reaper-metrics.js';
import { SubmitMetrics } from './submit-metrics.js';
import { WorkerMetrics } from './worker-metrics.js';

export type Role = 'api' | 'worker' | 'reaper' | 'dead-letter-consumer';

export interface EventMetricsOptions {
  readonly registry: Registry;
  readonly clock: Pick<Clock, 'now'>;
  /** What this process does. It exports the metrics of these roles and no others: a zero from who cannot know would lie. */
  readonly roles: readonly Role[];
  /** Types that the worker has handlers for. */
  readonly types?: readonly string[];
}

/** The metrics of a process, fed by the engine's events. A role that the process does not have is null. */
export class EventMetrics extends EngineEvents {
  readonly submits: SubmitMetrics | null;
  readonly worker: WorkerMetrics | null;
  readonly reaper: ReaperMetrics | null;
  readonly deadLetters: DeadLetterMetrics | null;
  readonly #listeners: readonly EngineEvents[];

  constructor({ registry, clock, roles, types = [] }: EventMetricsOptions) {
    super();
    this.submits = roles.includes('api') ? new SubmitMetrics(registry) : null;
    this.worker = roles.includes('worker') ? new WorkerMetrics(registry, types) : null;
    this.reaper = roles.includes('reaper') ? new ReaperMetrics(registry, clock) : null;
    this.deadLetters = roles.includes('dead-letter-consumer') ? new DeadLetterMetrics(registry) : null;
    this.#listeners = [this.submits, this.worker, this.reaper, this.deadLetters].filter((part) => part !== null);
  }

  override emit(event: EngineEvent): void {
    for (const listener of this.#listeners) listener.emit(event);
  }
}
