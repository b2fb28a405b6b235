import { AbortReason } from '@deadman/domain';
import type { AbortReasonCode, ClaimedJob, Lease, Ticket } from '@deadman/domain';

/**
 * How far a run has come.
 *
 * `queued`   claimed, waits for a slot.
 * `running`  its handler was called.
 * `settling` the handler is done, its outcome is on the way to the store. Only the fence decides now.
 * `gone`     settled, fenced or lost; nothing more is written.
 */
export type RunPhase = 'queued' | 'running' | 'settling' | 'gone';

/** One claim of one job, as long as this worker has to do with it. */
export class Run {
  #isLost = false;
  #vouchedAtMs: number;
  readonly job: ClaimedJob;
  readonly lease: Lease;
  /** Claims are told apart by token and job: one token covers a whole claim statement. */
  readonly key: string;
  readonly #tickets: readonly Ticket[];
  readonly #abort = new AbortController();
  /** When the claim was sent, monotonic. Everything about a claim counts from there, since the reply may have been slow. */
  readonly claimedAtMs: number;
  phase: RunPhase = 'queued';
  /** Monotonic; null until the handler is called. */
  startedAtMs: number | null = null;
  /** Monotonic; null until the handler is done or given up. */
  endedAtMs: number | null = null;

  constructor(job: ClaimedJob, claimedAtMs: number, tickets: readonly Ticket[] = []) {
    this.job = job;
    this.lease = { jobId: job.id, workerId: job.claim.workerId, attempt: job.attempt, token: job.claim.token };
    this.key = runKey(this.lease);
    this.claimedAtMs = claimedAtMs;
    this.#vouchedAtMs = claimedAtMs;
    this.#tickets = tickets;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why the run was aborted, null while it was not. The first reason stays. */
  get abortedBy(): AbortReasonCode | null {
    const reason: unknown = this.#abort.signal.reason;
    return reason instanceof AbortReason ? reason.code : null;
  }

  /** How long after its claim the handler was called; null when it never was. Milliseconds. */
  get startedAfterMs(): number | null {
    return this.startedAtMs === null ? null : Math.max(0, this.startedAtMs - this.claimedAtMs);
  }

  /** How long the handler ran; 0 when it never did. Milliseconds. */
  get ranMs(): number {
    return this.startedAtMs === null || this.endedAtMs === null ? 0 : this.endedAtMs - this.startedAtMs;
  }

  abort(code: AbortReasonCode): void {
    if (!this.#abort.signal.aborted) this.#abort.abort(new AbortReason(code));
  }

  /** Nothing more may be written about this run, and no effect fired: another worker may have the job. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** The claim, or a good renewal, was sent then. Monotonic. */
  vouch(sentAtMs: number): void {
    this.#vouchedAtMs = Math.max(this.#vouchedAtMs, sentAtMs);
  }

  /** As far as the worker has heard, nobody has vouched for the run for longer than this. */
  isStale(nowMs: number, ttlMs: number): boolean {
    return nowMs - this.#vouchedAtMs > ttlMs;
  }

  /** Cannot be taken back. */
  lose(): void {
    this.#isLost = true;
    this.abort('lease-lost');
  }

  /** Tells the transport that nothing more is to be done for this job's tickets. */
  finish(): void {
    this.phase = 'gone';
    for (const ticket of this.#tickets) ticket.done(this.job.id);
  }
}

export function runKey(claim: { readonly jobId: string; readonly token: string }): string {
  return `${claim.token}/${claim.jobId}`;
}

/** The same for every attempt of a job and scope. */
export function idempotencyKey(jobId: string, scope?: string): string {
  return scope === undefined ? jobId : `${jobId}/${scope}`;
}
