import type { Slice } from '../define-config.js';
import { databaseSlice } from './database-slice.js';
import { failpointSlice } from './failpoint-slice.js';
import { httpSlice } from './http-slice.js';
import { kafkaSlice } from './kafka-slice.js';
import { leaseSlice } from './lease-slice.js';
import { limitsSlice } from './limits-slice.js';
import { loggingSlice } from './logging-slice.js';
import { managementSlice } from './management-slice.js';
import { processSlice } from './process-slice.js';
import { queuesSlice, servedQueuesSlice } from './queues-slice.js';
import { reaperSlice } from './reaper-slice.js';
import { redisSlice } from './redis-slice.js';
import { retentionSlice } from './retention-slice.js';
import { workerSlice } from './worker-slice.js';

/** Every slice there is: a variable of one of them is known to all services, whether they read it or not. */
export const SHARED_SLICES: readonly Slice[] = [
  httpSlice,
  managementSlice,
  databaseSlice,
  redisSlice,
  kafkaSlice,
  queuesSlice,
  servedQueuesSlice,
  workerSlice,
  leaseSlice,
  limitsSlice,
  reaperSlice,
  retentionSlice,
  loggingSlice,
  processSlice,
  failpointSlice,
];
