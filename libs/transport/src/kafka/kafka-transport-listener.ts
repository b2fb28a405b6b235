import type { MalformedReason } from './ticket-codec.js';
import type { TopicCompression } from './topic-compression.js';

/** What happens between the transport and its brokers, for metrics and logs. Durations in milliseconds. */
export type KafkaTransportEvent =
  /** A consumer has its partitions. */
  | { readonly kind: 'partitions-assigned'; readonly topic: string; readonly partitions: readonly number[] }
  /** It is giving them up, to get others. */
  | { readonly kind: 'rebalance-began'; readonly topic: string }
  | { readonly kind: 'offsets-committed'; readonly topic: string; readonly offsets: ReadonlyMap<number, bigint> }
  /** The tickets since the last commit may be seen again. */
  | { readonly kind: 'commit-failed'; readonly topic: string; readonly error: unknown }
  /** What would have moved an offset belonged to a past generation, or to a partition that had gone. */
  | { readonly kind: 'stale-commit-dropped'; readonly topic: string; readonly count: number }
  /** Messages gave their offset free before their jobs ended. */
  | { readonly kind: 'offsets-let-go'; readonly topic: string; readonly count: number }
  /** Messages, or single ids, that can never mean anything. */
  | {
      readonly kind: 'malformed-message';
      readonly topic: string;
      readonly reason: MalformedReason;
      readonly count: number;
    }
  /** Messages between what was handed over last and the end of the partition. */
  | { readonly kind: 'partition-lag'; readonly topic: string; readonly partition: number; readonly lag: number }
  /** Back-pressure: the partition is not read until there is room. */
  | { readonly kind: 'partition-held'; readonly topic: string; readonly partition: number }
  /** A consumer ended and is made anew. `failures` in a row; what is the brokers' fault, `unreachable`, counts none. */
  | {
      readonly kind: 'consumer-lost';
      readonly topic: string;
      readonly reason: 'unreachable' | 'crashed' | 'deaf';
      readonly error: unknown;
      readonly failures: number;
      readonly retryInMs: number;
    }
  | { readonly kind: 'topics-created'; readonly topics: readonly string[] }
  /** A topic was looked at, as before each time that it is consumed. */
  | ({ readonly kind: 'topic-compression' } & TopicCompression)
  /** Deaths were refused by their handler and are delivered again. */
  | { readonly kind: 'delivery-refused'; readonly topic: string; readonly error: unknown; readonly retryInMs: number }
  | { readonly kind: 'messages-sent'; readonly messages: number; readonly tookMs: number }
  | { readonly kind: 'send-failed'; readonly messages: number; readonly error: unknown };

/** Hears what happens. Must neither throw nor wait: it is called on hot paths. */
export interface KafkaTransportListener {
  on(event: KafkaTransportEvent): void;
}

export const SILENT_LISTENER: KafkaTransportListener = { on: () => undefined };
