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
    worker: workerSlice,
    leases: leaseSlice,
    limits: limitsSlice,
    reaper: reaperSlice,
    retention: retentionSlice,
    logging: loggingSlice,
    process: processSlice,
    failpoints: failpointSlice,
  },
  [DIFFERENT_PORTS],
);

export type StandaloneConfig = ConfigOf<typeof standaloneConfig>;
