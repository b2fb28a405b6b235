import {
  defineConfig,
  DIFFERENT_PORTS,
  failpointSlice,
  httpSlice,
  leaseSlice,
  limitsSlice,
  loggingSlice,
  managementSlice,
  optionalDatabaseSlice,
  processSlice,
  queuesSlice,
  reaperSlice,
  retentionSlice,
  SERVED_QUEUES_EXIST,
  servedQueuesSlice,
  workerSlice,
} from '@deadman/config';
import type { ConfigOf } from '@deadman/config';

/** All roles in one process, so the settings of all of them. Without `DATABASE_URL` it brings its own PostgreSQL. */
export const standaloneConfig = defineConfig(
  {
    http: httpSlice,
    management: managementSlice,
    database: optionalDatabaseSlice,
    queues: queuesSlice,
    served: servedQueuesSlice,
    worker: workerSlice,
    leases: leaseSlice,
    limits: limitsSlice,
    reaper: reaperSlice,
    retention: retentionSlice,
    logging: loggingSlice,
    process: processSlice,
    failpoints: failpointSlice,
  },
  [DIFFERENT_PORTS, SERVED_QUEUES_EXIST],
);

export type StandaloneConfig = ConfigOf<typeof standaloneConfig>;
