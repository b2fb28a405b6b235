import { ATTEMPT_OUTCOMES, EngineEvents } from '@deadman/domain';
import type { EngineEvent, JobEventKind } from '@deadman/domain';
import type { Counter, Histogram } from 'prom-client';
import { BoundedLabel } from './bounded-label.js';
import { Instruments, LONG_BUCKETS, seconds } from './instruments.js';
import type { Registry } from './metrics-registry.js';

type Settled = Extract<EngineEvent, { kind: 'attempt-settled' }>;

/** Outcomes that a worker writes; the reaper counts lapses, and `running` is none. */
const SETTLED_OUTCOMES = ATTEMPT_OUTCOMES.filter((outcome) => outcome !== 'running' && outcome !== 'lapsed');

/** Writes about a running job that its worker makes. */
const FENCED_OPERATIONS = [
  ...(['succeed', 'fail', 'snooze', 'release', 'cancelled'] as const satisfies JobEventKind[]),
  'effect',
  'step',
] as const;

/** What a worker measures of its claims, runs and leases. */
export class WorkerMetrics extends EngineEvents {
  readonly #types: BoundedLabel;
  readonly #queues = new BoundedLabel();
  readonly #attempts: Counter<'type' | 'outcome'>;
  readonly #runs: Histogram<'type'>;
  readonly #waits: Histogram<'queue'>;
  readonly #endToEnd: Histogram<'type'>;
  readonly #renewals: Counter<'result'>;
  readonly #fenced: Counter<'operation'>;
  readonly #operations: BoundedLabel;
  readonly #lost: Counter<'reason'>;
  readonly #claims: Counter<'result'>;
  readonly #tickets: Counter<'result'>;

  /** @param types what this worker has handlers for: known before the first job, so that their counters begin at 0. */
  constructor(registry: Registry, types: readonly string[]) {
    super();
    const make = new Instruments(registry);
    this.#types = new BoundedLabel(types);
    this.#operations = new BoundedLabel(FENCED_OPERATIONS);
    this.#attempts = make.counterOf('job_attempts_total', 'Attempts by how they ended', ['type', 'outcome']);
    for (const type of types) for (const outcome of SETTLED_OUTCOMES) this.#attempts.inc({ type, outcome }, 0);
    this.#runs = make.histogram('job_run_duration_seconds', 'Time a handler ran', LONG_BUCKETS, ['type']);
    this.#waits = make.histogram('job_queue_wait_seconds', 'Time from ready to started', LONG_BUCKETS, ['queue']);
    this.#endToEnd = make.histogram('job_end_to_end_seconds', 'Time from submit to end', LONG_BUCKETS, ['type']);
    this.#renewals = make.labelledCounter('lease_renewals_total', 'Renewals of leases', 'result', [
      'renewed',
      'refused',
      'error',
    ]);
    this.#fenced = make.labelledCounter(
      'fenced_writes_rejected_total',
      'Late writes that the fence refused',
      'operation',
      FENCED_OPERATIONS,
    );
    this.#lost = make.labelledCounter('runs_lost_total', 'Runs that lost their lease', 'reason', [
      'stale',
      'unconfirmed',
    ]);
    this.#claims = make.labelledCounter(
      'claims_total',
      'Claimed jobs by how they were found; failed claims',
      'result',
      ['ticket', 'idle', 'quarantine', 'error'],
    );
    this.#tickets = make.labelledCounter('tickets_total', 'Ids of tickets by what became of them', 'result', [
      'claimed',
      'stale',
      'malformed',
      'duplicate',
    ]);
  }

  override emit(event: EngineEvent): void {
    switch (event.kind) {
      case 'attempt-started':
        return this.#waits.observe({ queue: this.#queues.of(event.queue) }, seconds(event.waitedMs));
      case 'attempt-settled':
        return this.#settled(event);
      case 'jobs-claimed':
        return this.#claims.inc({ result: event.by }, event.count);
      case 'claim-failed':
        return this.#claims.inc({ result: 'error' });
      case 'tickets-handled':
        return this.#tickets.inc({ result: event.result }, event.count);
      case 'leases-renewed':
        return this.#renewals.inc({ result: event.result }, event.count);
      case 'write-fenced':
        return this.#fenced.inc({ operation: this.#operations.of(event.operation) });
      case 'run-lost':
        return this.#lost.inc({ reason: event.reason });
      default:
        return undefined;
    }
  }

  #settled({ type: jobType, outcome, ranMs, endToEndMs }: Settled): void {
    const type = this.#types.of(jobType);
    this.#attempts.inc({ type, outcome });
    this.#runs.observe({ type }, seconds(ranMs));
    if (endToEndMs !== null) this.#endToEnd.observe({ type }, seconds(endToEndMs));
  }
}
