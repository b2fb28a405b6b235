import {
  databaseSlice,
  defineConfig,
  failpointSlice,
  kafkaSlice,
  leaseSlice,
  limitsSlice,
  loggingSlice,
  managementSlice,
  processSlice,
  queuesSlice,
  redisSlice,
  workerSlice,
} from '@deadman/config';
import type { ConfigOf } from '@deadman/config';

export const workerConfig = defineConfig({
  management: managementSlice,
  database: databaseSlice,
  redis: redisSlice,
  kafka: kafkaSlice,
  queues: queuesSlice,
  worker: workerSlice,
  leases: leaseSlice,
  limits: limitsSlice,
  logging: loggingSlice,
  process: processSlice,
  failpoints: failpointSlice,
});

export type WorkerConfig = ConfigOf<typeof workerConfig>;
