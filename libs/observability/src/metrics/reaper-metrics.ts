import { EngineEvents, JOB_STATES } from '@deadman/domain';
import type { Clock, EngineEvent, QueueStats } from '@deadman/domain';
import type { Counter, Gauge, Histogram } from 'prom-client';
import { Instruments, LONG_BUCKETS, seconds } from './instruments.js';
import type { Registry } from './metrics-registry.js';

/** Seconds, around the second in which a promotion should happen. */
const PROMOTION_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60] as const;

/** What a reaper measures: its own scans, what it recovers, and how the queues stand. */
export class ReaperMetrics extends EngineEvents {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #scans: Counter;
  readonly #lastScan: Gauge;
  readonly #trusted: Gauge;
  readonly #expired: Counter<'reason'>;
  readonly #recovery: Histogram;
  readonly #promoted: Counter;
  readonly #promotionDelay: Histogram;
  readonly #relayed: Counter;
  readonly #jobs: Gauge<'queue' | 'state'>;
  readonly #oldestPending: Gauge<'queue'>;

  constructor(registry: Registry, clock: Pick<Clock, 'now'>) {
    super();
    this.#clock = clock;
    const make = new Instruments(registry);
    this.#scans = make.counter('reaper_scans_total', 'Scans for dead workers');
    this.#lastScan = make.gauge('reaper_last_scan_timestamp_seconds', 'When the last scan was done');
    this.#trusted = make.gauge('redis_trusted', '1 while the absence of a lease means something');
    this.#expired = make.labelledCounter('leases_expired_total', 'Jobs taken from their workers', 'reason', [
      'lease-lapsed',
      'worker-gone',
      'timeout',
      'cancel-grace',
    ]);
    this.#recovery = make.histogram(
      'lease_recovery_delay_seconds',
      'From the last sign of life to the reclaim',
      LONG_BUCKETS,
    );
    this.#promoted = make.counter('jobs_promoted_total', 'Waiting jobs that became due');
    this.#promotionDelay = make.histogram(
      'promotion_delay_seconds',
      'Lateness of the latest job of a promotion',
      PROMOTION_BUCKETS,
    );
    this.#relayed = make.counter('outbox_relayed_total', 'Outbox rows that the relay sent for their writers');
    this.#jobs = make.gauge('jobs', 'Jobs by queue and state; ended states are counted up to a bound', [
      'queue',
      'state',
    ]);
    this.#oldestPending = make.gauge('queue_oldest_pending_age_seconds', 'Age of the oldest job that is ready', [
      'queue',
    ]);
  }

  override emit(event: EngineEvent): void {
    if (event.kind === 'reaper-scanned') {
      this.#scans.inc();
      this.#lastScan.set(seconds(this.#clock.now().getTime()));
      this.#trusted.set(event.isLeaseStoreTrusted ? 1 : 0);
    } else if (event.kind === 'job-reclaimed') {
      this.#expired.inc({ reason: event.reason });
      this.#recovery.observe(seconds(event.recoveryMs));
    } else if (event.kind === 'jobs-promoted' && event.count > 0) {
      this.#promoted.inc(event.count);
      this.#promotionDelay.observe(seconds(Math.max(0, event.maxDelayMs)));
    } else if (event.kind === 'outbox-sent' && event.by === 'relay') {
      this.#relayed.inc(event.count);
    }
  }

  /** Sampled by whoever asks the store. A queue without pending jobs has age 0. */
  setQueueStats(stats: readonly QueueStats[]): void {
    for (const { queue, counts, oldestPendingAgeMs } of stats) {
      for (const state of JOB_STATES) this.#jobs.set({ queue, state: state.toLowerCase() }, counts[state]);
      this.#oldestPending.set({ queue }, seconds(oldestPendingAgeMs ?? 0));
    }
  }
}
