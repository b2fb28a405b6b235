import type { Clock, EngineEvents, Random } from '@deadman/domain';
import type { KafkaLog } from './kafka-log.js';
import type { KafkaTransportListener } from './kafka-transport-listener.js';

/** What everything that speaks to Kafka is given. */
export interface KafkaTransportDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EngineEvents;
  /** Default: nobody. */
  readonly log?: KafkaLog;
  readonly listener?: KafkaTransportListener;
  /**
   * Nothing that this process tries makes a consumer work, though brokers answer: it should end with a code other than 0.
   * Default: throws, which ends it.
   */
  readonly onFatal?: (error: unknown) => void;
}
