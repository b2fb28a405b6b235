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
  reaperSlice,
  redisSlice,
  retentionSlice,
} from '@deadman/config';
import type { ConfigOf } from '@deadman/config';

export const reaperConfig = defineConfig({
  management: managementSlice,
  database: databaseSlice,
  redis: redisSlice,
  kafka: kafkaSlice,
  queues: queuesSlice,
  leases: leaseSlice,
  limits: limitsSlice,
  reaper: reaperSlice,
  retention: retentionSlice,
  logging: loggingSlice,
  process: processSlice,
  failpoints: failpointSlice,
});

export type ReaperConfig = ConfigOf<typeof reaperConfig>;
