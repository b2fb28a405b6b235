import { Instruments, labelledGaugeOf } from '@deadman/observability';
import type { Registry } from '@deadman/observability';
import type { KafkaTransportEvent, KafkaTransportListener } from '@deadman/transport';

/** What a service measures of its consumers and its sends. */
export class KafkaMetrics implements KafkaTransportListener {
  /** Topic → partition → messages between what was handed over last and the end. Of a topic that is not consumed, nothing. */
  readonly #lags = new Map<string, Map<number, number>>();
  readonly #count: (event: KafkaTransportEvent) => void;

  /** @param topics those that this service consumes; their metrics begin at 0. */
  constructor(registry: Registry, topics: readonly string[]) {
    const make = new Instruments(registry);
    for (const topic of topics) this.#lags.set(topic, new Map());
    const rebalances = make.labelledCounter(
      'kafka_rebalances_total',
      'Rebalances of a consumer group',
      'topic',
      topics,
    );
    const lost = make.labelledCounter('kafka_consumers_lost_total', 'Consumers that were made anew', 'reason', [
      'unreachable',
      'crashed',
      'deaf',
    ]);
    const stale = make.labelledCounter(
      'kafka_stale_commits_dropped_total',
      'Offsets that were not committed, for their partition had gone',
      'topic',
      topics,
    );
    const failed = make.counter('kafka_send_failures_total', 'Sends that no broker acknowledged');
    labelledGaugeOf(registry, 'kafka_consumer_lag', 'Messages that wait in the partitions held here', 'topic', () =>
      this.#lagByTopic(),
    );
    this.#count = (event) => {
      if (event.kind === 'rebalance-began') rebalances.inc({ topic: event.topic });
      else if (event.kind === 'consumer-lost') lost.inc({ reason: event.reason });
      else if (event.kind === 'stale-commit-dropped') stale.inc({ topic: event.topic }, event.count);
      else if (event.kind === 'send-failed') failed.inc();
    };
  }

  on(event: KafkaTransportEvent): void {
    this.#count(event);
    if (event.kind === 'partition-lag') this.#lagsOf(event.topic).set(event.partition, event.lag);
    else if (event.kind === 'partitions-assigned') this.#keepOnly(event.topic, event.partitions);
    // How much waits is not known until there is a consumer again; its last number would pass for the present one.
    else if (event.kind === 'consumer-lost') this.#lags.delete(event.topic);
  }

  /** Of a partition that has gone to others, they tell. */
  #keepOnly(topic: string, partitions: readonly number[]): void {
    const lags = this.#lagsOf(topic);
    for (const partition of lags.keys()) if (!partitions.includes(partition)) lags.delete(partition);
  }

  #lagsOf(topic: string): Map<number, number> {
    const known = this.#lags.get(topic) ?? new Map<number, number>();
    this.#lags.set(topic, known);
    return known;
  }

  #lagByTopic(): Readonly<Record<string, number>> {
    const sum = (lags: Map<number, number>): number => [...lags.values()].reduce((total, lag) => total + lag, 0);
    return Object.fromEntries([...this.#lags].map(([topic, lags]) => [topic, sum(lags)]));
  }
}
