import { createMetricsRegistry } from '@deadman/observability';
import { describe, expect, it } from '@jest/globals';
import { KafkaMetrics } from './kafka-metrics.js';

describe('KafkaMetrics', () => {
  const registry = createMetricsRegistry({ service: 'worker', instance: 'w', version: '0' });
  const metrics = new KafkaMetrics(registry, ['jobs.ready']);
  const lineOf = async (name: string): Promise<string | undefined> =>
    (await registry.metrics()).split('\n').find((line) => line.startsWith(`deadman_${name}`));

  it('begin at 0', async () => {
    expect(await lineOf('kafka_rebalances_total')).toBe('deadman_kafka_rebalances_total{topic="jobs.ready"} 0');
    expect(await lineOf('kafka_consumer_lag')).toBe('deadman_kafka_consumer_lag{topic="jobs.ready"} 0');
  });

  it('sum the lag of the partitions held here, and forget those that went to others', async () => {
    metrics.on({ kind: 'partition-lag', topic: 'jobs.ready', partition: 1, lag: 7 });
    metrics.on({ kind: 'partition-lag', topic: 'jobs.ready', partition: 2, lag: 5 });
    expect(await lineOf('kafka_consumer_lag')).toMatch(/ 12$/);
    metrics.on({ kind: 'rebalance-began', topic: 'jobs.ready' });
    metrics.on({ kind: 'partitions-assigned', topic: 'jobs.ready', partitions: [2, 3] });
    expect(await lineOf('kafka_consumer_lag')).toMatch(/ 5$/);
    expect(await lineOf('kafka_rebalances_total')).toMatch(/ 1$/);
  });

  it('tell no lag of a topic whose consumer is lost, until there is one again', async () => {
    metrics.on({ kind: 'partition-lag', topic: 'jobs.ready', partition: 2, lag: 5 });
    const [reason, error] = ['unreachable' as const, new Error('no broker')];
    metrics.on({ kind: 'consumer-lost', topic: 'jobs.ready', reason, error, failures: 0, retryInMs: 200 });
    expect(await lineOf('kafka_consumer_lag')).toBeUndefined();
    metrics.on({ kind: 'partitions-assigned', topic: 'jobs.ready', partitions: [2] });
    metrics.on({ kind: 'partition-lag', topic: 'jobs.ready', partition: 2, lag: 9 });
    expect(await lineOf('kafka_consumer_lag')).toMatch(/ 9$/);
  });
});
