import { defineSlice } from '../define-config.js';
import { list, REQUIRED } from '../variable.js';

const BROKERS = {
  name: 'KAFKA_BROKERS',
  what: 'The brokers to begin with, which tell of the others. Standalone carries its wake-ups in memory when this is absent.',
  pattern: /^[^\s:,]+:\d{1,5}$/,
  allowed: 'host:port, several between commas',
} as const;

export const kafkaSlice = defineSlice('Kafka', { brokers: list({ ...BROKERS, default: REQUIRED }) });

/** For standalone: no brokers means wake-ups in memory. */
export const optionalKafkaSlice = defineSlice('Kafka', { brokers: list({ ...BROKERS, default: null }) });
