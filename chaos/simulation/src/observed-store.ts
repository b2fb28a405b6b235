import { Transition } from '@deadman/domain';
import type {
  ApplyReceipt,
  ApplyResult,
  ClaimedJob,
  IdleClaim,
  OutboxEntry,
  OutboxQuery,
  PromoteReceipt,
  TicketClaim,
} from '@deadman/domain';
import { MemoryJobStore } from '@deadman/store';
import { lockMark } from './fault-marks.js';
import type { Scan } from './fault-marks.js';
import type { ObservedDatabase } from './observed-database.js';
import type { Situations } from './situations.js';

/** What one process meets of the store besides its answers. */
export interface StoreConditions {
  readonly db: ObservedDatabase;
  readonly situations: Situations;
  /** Whether a row that a scan wants is held by somebody else at this moment. */
  readonly isRowLocked: () => boolean;
}

/**
 * The store in memory, with the locks that it does not have: a scan passes over rows that others hold (`SKIP LOCKED`), so
 * here it passes over rows that the dice pick. It also counts what only the store can see.
 */
export class ObservedStore extends MemoryJobStore {
  readonly #conditions: StoreConditions;

  constructor(conditions: StoreConditions) {
    super(conditions.db);
    this.#conditions = conditions;
  }

  override async apply(
    batch: readonly Transition[],
    { skipLocked = false }: { readonly skipLocked?: boolean } = {},
  ): Promise<ApplyReceipt> {
    const locked = new Set(skipLocked ? batch.filter(() => this.#meetsLock('a lapse')) : []);
    const { results, outbox } = await super.apply(batch.filter((transition) => !locked.has(transition)));
    const left = [...results];
    const all = batch.map((transition): ApplyResult => (locked.has(transition) ? { kind: 'fenced' } : left.shift()!));
    batch.forEach((transition, index) => this.#count(transition, all[index]!));
    return { results: all, outbox };
  }

  override async claim(request: TicketClaim): Promise<readonly ClaimedJob[]> {
    const { db, situations } = this.#conditions;
    const claimed = await super.claim(request);
    const absorbed = request.ids.filter((id) => (db.jobs.get(id)?.attempt ?? 0) > 0).length - claimed.length;
    if (absorbed > 0) situations.count('redelivery absorbed', absorbed);
    return claimed;
  }

  override async claimIdle(request: IdleClaim): Promise<readonly ClaimedJob[]> {
    const isShort = request.limit > 1 && this.#meetsLock('an idle claim');
    return super.claimIdle(isShort ? { ...request, limit: request.limit - 1 } : request);
  }

  override async promoteDue(request: {
    readonly limit: number;
    readonly ids?: readonly string[];
  }): Promise<PromoteReceipt> {
    if (request.ids === undefined) return super.promoteDue(request);
    return super.promoteDue({ ...request, ids: request.ids.filter(() => !this.#meetsLock('a promotion')) });
  }

  override async takeOutbox(request: OutboxQuery): Promise<readonly OutboxEntry[]> {
    const isShort = request.limit > 1 && this.#meetsLock('the relay');
    return super.takeOutbox(isShort ? { ...request, limit: 1 } : request);
  }

  #meetsLock(scan: Scan): boolean {
    const isLocked = this.#conditions.isRowLocked();
    if (isLocked) this.#conditions.situations.count(lockMark(scan));
    return isLocked;
  }

  #count({ event, jobId }: Transition, result: ApplyResult): void {
    const { situations, db } = this.#conditions;
    if (event === 'lapse' && result.kind === 'fenced') situations.count('reclaim raced');
    if (event !== 'lapse' && result.kind === 'already') situations.count('settled before, and its reply lost');
    if (result.kind === 'applied' && result.by === 'effects-missing') {
      situations.count('success without its effect released');
    }
    if (event === 'cancel' && result.kind === 'applied' && db.jobs.get(jobId)?.state === 'RUNNING') {
      situations.count('cancel of a running job');
    }
  }
}
