import type { EngineEvent, QueueStats } from '@deadman/domain';
import { FakeClock } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { BoundedLabel } from './bounded-label.js';
import { EventMetrics } from './event-metrics.js';
import type { Role } from './event-metrics.js';
import { HttpMetrics } from './http-metrics.js';
import { createMetricsRegistry, measurePool, measureSlots } from './metrics-registry.js';

const ALL: readonly Role[] = ['api', 'worker', 'reaper', 'dead-letter-consumer'];
const JOB = { jobId: 'job-1', type: 'demo.echo', queue: 'default', attempt: 1 };

function setUp(roles: readonly Role[] = ALL): { registry: Registry; metrics: EventMetrics; clock: FakeClock } {
  const registry = new Registry();
  const clock = new FakeClock();
  return { registry, clock, metrics: new EventMetrics({ registry, clock, roles, types: ['demo.echo'] }) };
}

/** The value of one sample, written as the exposition format writes it. */
async function sample(registry: Registry, name: string): Promise<number | undefined> {
  const lines = (await registry.metrics()).split('\n');
  const line = lines.find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

async function after(events: readonly EngineEvent[]): Promise<(name: string) => Promise<number | undefined>> {
  const { registry, metrics } = setUp();
  for (const event of events) metrics.emit(event);
  return (name) => sample(registry, name);
}

describe('EventMetrics: at start', () => {
  it.each([
    'deadman_jobs_submitted_total{result="created"}',
    'deadman_jobs_submitted_total{result="replayed"}',
    'deadman_jobs_submitted_total{result="rejected"}',
    'deadman_job_attempts_total{type="demo.echo",outcome="succeeded"}',
    'deadman_job_attempts_total{type="demo.echo",outcome="failed"}',
    'deadman_lease_renewals_total{result="error"}',
    'deadman_fenced_writes_rejected_total{operation="succeed"}',
    'deadman_runs_lost_total{reason="stale"}',
    'deadman_claims_total{result="error"}',
    'deadman_tickets_total{result="malformed"}',
    'deadman_reaper_scans_total',
    'deadman_leases_expired_total{reason="worker-gone"}',
    'deadman_jobs_promoted_total',
    'deadman_outbox_relayed_total',
    'deadman_dead_letters_recorded_total{reason="crash-loop"}',
  ])('%s is 0, so that an alert sees the first rise', async (name) => {
    expect(await sample(setUp().registry, name)).toBe(0);
  });

  it.each<[Role, string, string]>([
    ['api', 'deadman_jobs_submitted_total', 'deadman_reaper_scans_total'],
    ['worker', 'deadman_claims_total', 'deadman_jobs_submitted_total'],
    ['reaper', 'deadman_reaper_last_scan_timestamp_seconds', 'deadman_claims_total'],
    ['dead-letter-consumer', 'deadman_dead_letters_recorded_total', 'deadman_reaper_last_scan_timestamp_seconds'],
  ])('the %s exports its own metrics and none of a role it does not have', async (role, own, foreign) => {
    const text = await setUp([role]).registry.metrics();
    expect(text).toContain(own);
    expect(text).not.toContain(foreign);
  });
});

describe('EventMetrics: counts', () => {
  it('submits by result, and the size of micro-batches', async () => {
    const value = await after([
      { kind: 'jobs-submitted', created: 3, replayed: 1 },
      { kind: 'submit-rejected', because: 'overloaded', count: 2 },
    ]);
    expect(await value('deadman_jobs_submitted_total{result="created"}')).toBe(3);
    expect(await value('deadman_jobs_submitted_total{result="replayed"}')).toBe(1);
    expect(await value('deadman_jobs_submitted_total{result="rejected"}')).toBe(2);
    expect(await value('deadman_submit_batch_size_sum')).toBe(4);
  });

  it('attempts, waits, runs and ends, in seconds', async () => {
    const value = await after([
      { kind: 'attempt-started', waitedMs: 1_500, ...JOB },
      {
        kind: 'attempt-settled',
        outcome: 'failed',
        state: 'FAILED',
        ranMs: 250,
        endToEndMs: null,
        error: null,
        reason: null,
        ...JOB,
      },
      {
        kind: 'attempt-settled',
        outcome: 'succeeded',
        state: 'SUCCEEDED',
        ranMs: 750,
        endToEndMs: 4_000,
        error: null,
        reason: null,
        ...JOB,
      },
    ]);
    expect(await value('deadman_job_attempts_total{type="demo.echo",outcome="failed"}')).toBe(1);
    expect(await value('deadman_job_attempts_total{type="demo.echo",outcome="succeeded"}')).toBe(1);
    expect(await value('deadman_job_queue_wait_seconds_sum{queue="default"}')).toBe(1.5);
    expect(await value('deadman_job_run_duration_seconds_sum{type="demo.echo"}')).toBe(1);
    expect(await value('deadman_job_end_to_end_seconds_sum{type="demo.echo"}')).toBe(4);
    expect(await value('deadman_job_end_to_end_seconds_count{type="demo.echo"}')).toBe(1);
  });

  it('claims, tickets, renewals, fenced writes and lost runs', async () => {
    const value = await after([
      { kind: 'jobs-claimed', by: 'ticket', count: 7, leases: [] },
      { kind: 'claim-failed', error: new Error() },
      { kind: 'tickets-handled', result: 'stale', count: 2 },
      { kind: 'leases-renewed', result: 'renewed', count: 16 },
      { kind: 'write-fenced', operation: 'succeed', jobId: 'job-1', attempt: 1 },
      { kind: 'write-fenced', operation: 'effect', jobId: 'job-1', attempt: 1 },
      { kind: 'run-lost', reason: 'unconfirmed', ...JOB },
    ]);
    expect(await value('deadman_claims_total{result="ticket"}')).toBe(7);
    expect(await value('deadman_claims_total{result="error"}')).toBe(1);
    expect(await value('deadman_tickets_total{result="stale"}')).toBe(2);
    expect(await value('deadman_lease_renewals_total{result="renewed"}')).toBe(16);
    expect(await value('deadman_fenced_writes_rejected_total{operation="succeed"}')).toBe(1);
    expect(await value('deadman_fenced_writes_rejected_total{operation="effect"}')).toBe(1);
    expect(await value('deadman_runs_lost_total{reason="unconfirmed"}')).toBe(1);
  });

  it('scans, reclaims, promotions and relayed rows; what a writer sent itself is not relayed', async () => {
    const value = await after([
      { kind: 'reaper-scanned', storeUnbrokenMs: 1, isLeaseStoreTrusted: true },
      { kind: 'job-reclaimed', workerId: 'w', reason: 'worker-gone', state: 'PENDING', recoveryMs: 31_000, ...JOB },
      { kind: 'jobs-promoted', count: 4, maxDelayMs: 500 },
      { kind: 'jobs-promoted', count: 0, maxDelayMs: 0 },
      { kind: 'outbox-sent', by: 'relay', count: 3, failed: 1 },
      { kind: 'outbox-sent', by: 'writer', count: 9, failed: 0 },
    ]);
    expect(await value('deadman_reaper_scans_total')).toBe(1);
    expect(await value('deadman_reaper_last_scan_timestamp_seconds')).toBe(Date.parse('2026-01-01T00:00:00Z') / 1_000);
    expect(await value('deadman_redis_trusted')).toBe(1);
    expect(await value('deadman_leases_expired_total{reason="worker-gone"}')).toBe(1);
    expect(await value('deadman_lease_recovery_delay_seconds_sum')).toBe(31);
    expect(await value('deadman_jobs_promoted_total')).toBe(4);
    expect(await value('deadman_promotion_delay_seconds_sum')).toBe(0.5);
    expect(await value('deadman_promotion_delay_seconds_count')).toBe(1);
    expect(await value('deadman_outbox_relayed_total')).toBe(3);
  });

  it('dead letters by reason', async () => {
    const value = await after([
      { kind: 'dead-letter-recorded', jobId: 'job-1', attempt: 1, reason: 'exhausted', superseded: false },
    ]);
    expect(await value('deadman_dead_letters_recorded_total{reason="exhausted"}')).toBe(1);
  });
});

describe('EventMetrics: what is sampled', () => {
  it('shows the queues as they stand; one without pending jobs has age 0', async () => {
    const { registry, metrics } = setUp();
    const counts = { PENDING: 3, SCHEDULED: 0, RUNNING: 2, SUCCEEDED: 9, FAILED: 0, DEAD: 1, CANCELLED: 0 };
    const stats: QueueStats[] = [
      { queue: 'default', counts, capped: [], oldestPendingAgeMs: 2_500 },
      { queue: 'mail', counts: { ...counts, PENDING: 0 }, capped: [], oldestPendingAgeMs: null },
    ];
    metrics.reaper?.setQueueStats(stats);
    metrics.submits?.setOutboxAge(61_000);
    metrics.deadLetters?.setDeadLetters(12);
    expect(await sample(registry, 'deadman_jobs{queue="default",state="pending"}')).toBe(3);
    expect(await sample(registry, 'deadman_queue_oldest_pending_age_seconds{queue="default"}')).toBe(2.5);
    expect(await sample(registry, 'deadman_queue_oldest_pending_age_seconds{queue="mail"}')).toBe(0);
    expect(await sample(registry, 'deadman_outbox_oldest_age_seconds')).toBe(61);
    expect(await sample(registry, 'deadman_dead_letters')).toBe(12);
  });
});

describe('labels', () => {
  it('are bounded: beyond the limit all values are one', () => {
    const label = new BoundedLabel(['known'], 3);
    expect(['a', 'b', 'c', 'a', 'known'].map((value) => label.of(value))).toEqual(['a', 'b', 'other', 'a', 'known']);
  });

  it('never hold the type of a job without bound', async () => {
    const { registry, metrics } = setUp();
    for (let index = 0; index < 1_000; index += 1) {
      metrics.emit({
        kind: 'attempt-settled',
        ...JOB,
        type: `type-${index}`,
        outcome: 'succeeded',
        state: 'SUCCEEDED',
        ranMs: 1,
        endToEndMs: 1,
        error: null,
        reason: null,
      });
    }
    const series = (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('deadman_job_attempts_total{'));
    expect(series.length).toBeLessThan(220);
    expect(await sample(registry, 'deadman_job_attempts_total{type="other",outcome="succeeded"}')).toBe(801);
  });
});

describe('createMetricsRegistry', () => {
  it('exports build, event loop and process for every service, all under one prefix', async () => {
    const registry = createMetricsRegistry({ service: 'api', instance: 'api-1', version: '1.2.3' });
    const text = await registry.metrics();
    expect(text).toContain(`deadman_build_info{service="api",version="1.2.3",node="${process.versions.node}"} 1`);
    expect(text).toContain('deadman_nodejs_eventloop_lag_seconds');
    expect(text).toContain('deadman_process_resident_memory_bytes');
    const names = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(names.filter((line) => !line.startsWith('deadman_'))).toEqual([]);
  });

  it('reads pool and slots at the moment of the scrape', async () => {
    const registry = new Registry();
    let busy = 1;
    measurePool(registry, () => ({ busy, idle: 4, waiting: 0 }));
    measureSlots(registry, () => ({ capacity: 16, busy }));
    busy = 5;
    expect(await sample(registry, 'deadman_db_pool_connections{state="busy"}')).toBe(5);
    expect(await sample(registry, 'deadman_worker_slots_capacity')).toBe(16);
    expect(await sample(registry, 'deadman_worker_slots_busy')).toBe(5);
  });
});

describe('HttpMetrics', () => {
  it('measures requests by route, method and status, in seconds', async () => {
    const registry = new Registry();
    new HttpMetrics(registry).observe({ method: 'POST', route: '/jobs', status: 201, durationMs: 8 });
    const name = 'deadman_http_server_request_duration_seconds_sum{method="POST",route="/jobs",status="201"}';
    expect(await sample(registry, name)).toBe(0.008);
  });
});
