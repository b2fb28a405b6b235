import {
  databaseSlice,
  defineConfig,
  failpointSlice,
  loggingSlice,
  optionalKafkaSlice,
  processSlice,
  queuesSlice,
} from '@deadman/config';

/** Without brokers it sees to the schema alone. */
export const migrateConfig = defineConfig({
  database: databaseSlice,
  kafka: optionalKafkaSlice,
  queues: queuesSlice,
  logging: loggingSlice,
  process: processSlice,
  failpoints: failpointSlice,
});
