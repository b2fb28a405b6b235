import type { CancelledClaim, Lease, LeasePolicy } from '@deadman/domain';
import type { HeartNews, HeldRun } from './heart.js';
import { runKey } from './run.js';

/** A run as the heart sees it. Times are monotonic, in milliseconds. */
export class Holding {
  readonly lease: Lease;
  readonly key: string;
  readonly #timeoutMs: number;
  readonly #claimedAtMs: number;
  /** When the last good renewal was sent. */
  renewedAtMs: number;
  /** Null until the handler is called. */
  startedAtMs: number | null = null;
  /** The handler is done, and its outcome on the way to the store. */
  isSettling = false;
  /** Given up for good. */
  isLost = false;

  constructor({ lease, timeoutMs, claimedAtMs }: HeldRun) {
    this.lease = lease;
    this.key = runKey(lease);
    this.#timeoutMs = timeoutMs;
    this.#claimedAtMs = claimedAtMs;
    this.renewedAtMs = claimedAtMs;
  }

  /** Past this age of its last good renewal, another worker may already run the job. */
  isStale(nowMs: number, ttlMs: number): boolean {
    return nowMs - this.renewedAtMs > ttlMs;
  }

  /**
   * The job has overstayed its timeout and the slack beyond it. One of which no start is known may have started a TTL
   * after its claim and no later, since its worker starts none that is older.
   */
  isOverdue(nowMs: number, { ttlMs, timeoutSlackMs }: LeasePolicy): boolean {
    const startedAtMs = this.startedAtMs ?? this.#claimedAtMs + ttlMs;
    return nowMs - startedAtMs > this.#timeoutMs + timeoutSlackMs;
  }
}

/** What a worker says of its claims and runs. */
type HoldingNews = Exclude<HeartNews, { readonly kind: 'cancel-noticed' }>;

/** Cancels that are kept for one claim under way, a guess; the next beat tells of what is beyond. */
const MAX_EARLY_CANCELS = 10_000;

/** Everything that a worker has told its heart of and has not let go. */
export class Holdings {
  readonly #runs = new Map<string, Holding>();
  /** By the tokens of claims whose reply is out: the jobs whose cancel was heard of meanwhile. */
  readonly #claiming = new Map<string, Set<string>>();

  apply(news: HoldingNews): void {
    switch (news.kind) {
      case 'claim-began':
        return void this.#claiming.set(news.token, new Set());
      case 'claim-ended':
        return void this.#claiming.delete(news.token);
      case 'runs-held':
        return news.runs.forEach((run) => this.#hold(new Holding(run)));
      case 'run-started':
        return this.#change(news.key, (holding) => (holding.startedAtMs = news.atMs));
      case 'run-settling':
        return this.#change(news.key, (holding) => (holding.isSettling = true));
      case 'run-dropped':
        return void this.#runs.delete(news.key);
    }
  }

  find(key: string): Holding | undefined {
    return this.#runs.get(key);
  }

  all(): readonly Holding[] {
    return [...this.#runs.values()];
  }

  /** The tokens of claims whose reply is out. */
  claimsUnderWay(): ReadonlySet<string> {
    return new Set(this.#claiming.keys());
  }

  isClaiming(token: string): boolean {
    return this.#claiming.has(token);
  }

  /** A cancel was asked for a job of a claim whose reply may still be out. */
  cancelEarly({ jobId, token }: CancelledClaim): void {
    const cancelled = this.#claiming.get(token);
    if (cancelled !== undefined && cancelled.size < MAX_EARLY_CANCELS) cancelled.add(jobId);
  }

  /** The runs of a claim under way whose cancel was heard of before them. */
  cancelledEarly(token: string): readonly Holding[] {
    const cancelled = this.#claiming.get(token);
    if (cancelled === undefined || cancelled.size === 0) return [];
    return this.all().filter(({ lease }) => lease.token === token && cancelled.has(lease.jobId));
  }

  #hold(holding: Holding): void {
    this.#runs.set(holding.key, holding);
  }

  #change(key: string, change: (holding: Holding) => void): void {
    const holding = this.#runs.get(key);
    if (holding !== undefined) change(holding);
  }
}
