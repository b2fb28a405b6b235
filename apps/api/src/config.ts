import {
  databaseSlice,
  defineConfig,
  DIFFERENT_PORTS,
  failpointSlice,
  httpSlice,
  kafkaSlice,
  limitsSlice,
  loggingSlice,
  managementSlice,
  processSlice,
  queuesSlice,
} from '@deadman/config';
import type { ConfigOf } from '@deadman/config';

/**
 * What the api reads. The limits of a job are among it because a person's retry and cancel are decided here. Redis is not:
 * it belongs to workers and reapers.
 */
export const apiConfig = defineConfig(
  {
    http: httpSlice,
    management: managementSlice,
    database: databaseSlice,
    kafka: kafkaSlice,
    queues: queuesSlice,
    limits: limitsSlice,
    logging: loggingSlice,
    process: processSlice,
    failpoints: failpointSlice,
  },
  [DIFFERENT_PORTS],
);

export type ApiConfig = ConfigOf<typeof apiConfig>;
