import { MemoryLeaseStore } from '@deadman/leases';
import { MemoryDatabase, MemoryJobStore, MemoryWorkerRegistry } from '@deadman/store';
import { FakeClock, SeededRandom, SequenceIds } from '@deadman/testing';
import { MemoryTransport } from '@deadman/transport';
import { describe, it } from '@jest/globals';
import { expectTenThousandJobsToRunOnce } from './ten-thousand-jobs.contract.js';

describe('ten thousand jobs, all in memory', () => {
  it('run exactly once each on eight slots, without a lapse', async () => {
    const clock = new FakeClock();
    const db = new MemoryDatabase(clock);
    await expectTenThousandJobsToRunOnce({
      store: new MemoryJobStore(db),
      registry: new MemoryWorkerRegistry(db),
      leases: new MemoryLeaseStore(clock),
      transport: new MemoryTransport(clock),
      clock,
      random: SeededRandom.announced('ten thousand jobs'),
      ids: new SequenceIds(clock),
      until: (isOver) => clock.advanceUntil(isOver, 600_000),
    });
  });
});
