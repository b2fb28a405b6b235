import { MemoryLeaseStore, MemoryWakeUpSet } from '@deadman/leases';
import { MemoryDatabase, MemoryJobStore, MemoryStoreNotices, MemoryWorkerRegistry } from '@deadman/store';
import { MemoryTransport } from '@deadman/transport';
import type { Clock } from '@deadman/domain';
import type { Logger } from '@deadman/observability';
import type { Adapters } from './composition.js';
import type { StandaloneConfig } from './config.js';
import type { Teardown } from './teardown.js';

/** In memory until the adapters on PostgreSQL exist: jobs do not outlive the process yet. */
export async function openAdapters(
  _url: string,
  { clock }: { config: StandaloneConfig; clock: Clock; logger: Logger; teardown: Teardown },
): Promise<Adapters> {
  const database = new MemoryDatabase(clock);
  return {
    store: new MemoryJobStore(database),
    registry: new MemoryWorkerRegistry(database),
    notices: new MemoryStoreNotices(database),
    transport: new MemoryTransport(clock),
    leases: new MemoryLeaseStore(clock),
    wakeUps: new MemoryWakeUpSet(clock),
  };
}
