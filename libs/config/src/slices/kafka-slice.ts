import { defineSlice } from '../define-config.js';
import { list, REQUIRED, wholeNumber } from '../variable.js';

const BROKERS = {
  name: 'KAFKA_BROKERS',
  what: 'The brokers to begin with, which tell of the others. Standalone carries its wake-ups in memory when this is absent.',
  pattern: /^[^\s:,]+:\d{1,5}$/,
  allowed: 'host:port, several between commas',
} as const;

const TOPICS = {
  partitions: wholeNumber({
    name: 'DEADMAN_KAFKA_PARTITIONS',
    what: 'Partitions of each topic, which bound how many workers share a queue. The same in every service. More can be added to a topic later, and then here; fewer never.',
    default: 12,
    min: 1,
    max: 1_000,
  }),
};

export const kafkaSlice = defineSlice('Kafka', { brokers: list({ ...BROKERS, default: REQUIRED }), ...TOPICS });

/** For standalone: no brokers means wake-ups in memory. */
export const optionalKafkaSlice = defineSlice('Kafka', { brokers: list({ ...BROKERS, default: null }), ...TOPICS });
