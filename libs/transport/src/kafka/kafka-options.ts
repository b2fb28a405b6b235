import type { ISocketFactory, KafkaConfig } from 'kafkajs';

/** How to reach the brokers. */
export interface KafkaConnection {
  /** `host:port` of some brokers, which tell of the others. */
  readonly brokers: readonly string[];
  /** Names this process in the brokers' logs. */
  readonly clientId: string;
  readonly ssl?: KafkaConfig['ssl'];
  readonly sasl?: KafkaConfig['sasl'];
  /** Opens a connection; default plain TCP or TLS. A test puts a proxy in between. */
  readonly socketFactory?: ISocketFactory;
}

/** Times in milliseconds. Values of protocol rules stand in `protocol.md` §13. */
export interface KafkaTimings {
  /** A member that the coordinator has not heard of for this long has left its group. */
  readonly sessionTimeoutMs: number;
  /** At most a third of the session. */
  readonly heartbeatMs: number;
  /** How long members may take to join again before the group goes on without them. */
  readonly rebalanceTimeoutMs: number;
  /** How long a broker waits for messages before it answers that there are none; also how late a held partition resumes. */
  readonly fetchWaitMs: number;
  readonly commitEveryMs: number;
  /** How long one message may hold its partition's offset once all its jobs are claimed. Default: a lease's TTL. */
  readonly offsetHoldMs: number;
  /** A batch that its handler has not ended after this long is given up: the group hands its partition to others. */
  readonly handlingLimitMs: number;
  /** A consumer of which no fetch, heartbeat or join was heard for this long is made anew. Longer than session and rebalance together. */
  readonly deafAfterMs: number;
  /** A consumer that has run this long without a fault is well: its failures are forgotten. */
  readonly healthyAfterMs: number;
  /** Pause before a lost consumer is made anew: the first and the longest. Doubles in between, half of it is left to chance. */
  readonly rebuildBaseMs: number;
  readonly rebuildMaxMs: number;
  /** How long a subscription that ends waits for the batches under way. Leaving its group takes three seconds more at most. */
  readonly closeLimitMs: number;
  /** How long one `publish` may take, the wait for an earlier send included. */
  readonly publishLimitMs: number;
  readonly connectionTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

export const KAFKA_TIMINGS: KafkaTimings = {
  sessionTimeoutMs: 6_000,
  heartbeatMs: 2_000,
  rebalanceTimeoutMs: 10_000,
  fetchWaitMs: 200,
  commitEveryMs: 500,
  offsetHoldMs: 30_000,
  handlingLimitMs: 60_000,
  deafAfterMs: 20_000,
  healthyAfterMs: 10_000,
  rebuildBaseMs: 200,
  rebuildMaxMs: 5_000,
  closeLimitMs: 10_000,
  publishLimitMs: 5_000,
  connectionTimeoutMs: 1_000,
  requestTimeoutMs: 4_000,
};

export interface KafkaTransportOptions {
  readonly connection: KafkaConnection;
  /** In front of every topic's name; default none. */
  readonly topicPrefix?: string;
  /** Partitions of each topic; default 12. The same in every service: it decides which partition a job lies on. */
  readonly partitions?: number;
  /** Copies of each topic that is created; default 3, or one per broker when there are fewer. */
  readonly replicationFactor?: number;
  /** Failures in a row after which `onFatal` is called; default 24, which is two minutes. */
  readonly maxFailures?: number;
  /** Messages per partition that may wait or be at work at once before the oldest give their offset free. Default 20 000. */
  readonly maxTracked?: number;
  readonly timings?: Partial<KafkaTimings>;
}

export type ResolvedOptions = Required<Omit<KafkaTransportOptions, 'replicationFactor' | 'timings'>> & {
  readonly replicationFactor: number | null;
  readonly timings: KafkaTimings;
};

export function resolveOptions(options: KafkaTransportOptions): ResolvedOptions {
  return {
    topicPrefix: '',
    partitions: 12,
    maxFailures: 24,
    maxTracked: 20_000,
    ...options,
    replicationFactor: options.replicationFactor ?? null,
    timings: { ...KAFKA_TIMINGS, ...options.timings },
  };
}
