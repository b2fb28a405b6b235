import {
  databaseSlice,
  defineConfig,
  failpointSlice,
  kafkaSlice,
  loggingSlice,
  managementSlice,
  processSlice,
} from '@deadman/config';
import type { ConfigOf } from '@deadman/config';

export const deadLetterConsumerConfig = defineConfig({
  management: managementSlice,
  database: databaseSlice,
  kafka: kafkaSlice,
  logging: loggingSlice,
  process: processSlice,
  failpoints: failpointSlice,
});

export type DeadLetterConsumerConfig = ConfigOf<typeof deadLetterConsumerConfig>;
