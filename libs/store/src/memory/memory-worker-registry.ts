import { WorkerRegistry } from '@deadman/domain';
import type { BeatReply, BeatRequest } from '@deadman/domain';
import { atomicCall } from './atomic-call.js';
import type { MemoryDatabase } from './memory-database.js';

/** Who is alive, beside the jobs of the same database. */
export class MemoryWorkerRegistry extends WorkerRegistry {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    super();
    this.#db = db;
  }

  override beat(request: BeatRequest): Promise<BeatReply> {
    return atomicCall(() => {
      const { worker } = request;
      this.#db.workers.set(worker.incarnation, { ...worker, lastSeenAt: this.#db.now() });
      return { beliefs: this.#beliefs(worker.incarnation), isQuarantineWaiting: this.#isQuarantineWaiting(request) };
    });
  }

  override retire(incarnation: string): Promise<void> {
    return atomicCall(() => void this.#db.workers.delete(incarnation));
  }

  override liveTypes(withinMs: number): Promise<ReadonlySet<string>> {
    return atomicCall(() => {
      const since = this.#db.now().getTime() - withinMs;
      const live = [...this.#db.workers.values()].filter(({ lastSeenAt }) => lastSeenAt.getTime() >= since);
      return new Set(live.flatMap(({ types }) => types));
    });
  }

  #beliefs(incarnation: string): BeatReply['beliefs'] {
    const mine = [...this.#db.running.values()].filter(({ claim }) => claim.workerId === incarnation);
    return mine.map(({ id, attempt, claim, cancelRequestedAt }) => ({
      jobId: id,
      attempt,
      token: claim.token,
      cancelRequested: cancelRequestedAt !== null,
    }));
  }

  #isQuarantineWaiting({ worker, quarantineFrom, quarantineWaitMs }: BeatRequest): boolean {
    const since = this.#db.now().getTime() - quarantineWaitMs;
    for (const job of this.#db.pending.ascending()) {
      if (job.lapsesInRow < quarantineFrom || job.scheduledFor.getTime() >= since) continue;
      if (worker.types.includes(job.type) && worker.queues.includes(job.queue)) return true;
    }
    return false;
  }
}
