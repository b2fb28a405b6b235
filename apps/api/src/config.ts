import {
  databaseSlice,
  defineConfig,
  DIFFERENT_PORTS,
  httpSlice,
  limitsSlice,
  loggingSlice,
  managementSlice,
  processSlice,
  queuesSlice,
} from '@deadman/config';
import type { ConfigOf } from '@deadman/config';

/** What the api reads. The limits of a job are among it because a person's retry and cancel are decided here. */
export const apiConfig = defineConfig(
  {
    http: httpSlice,
    management: managementSlice,
    database: databaseSlice,
    queues: queuesSlice,
    limits: limitsSlice,
    logging: loggingSlice,
    process: processSlice,
  },
  [DIFFERENT_PORTS],
);

export type ApiConfig = ConfigOf<typeof apiConfig>;
