import type { BeatReply, ClaimedJob, Lease } from '@deadman/domain';
import type { Kernel } from './kernel.js';
import type { Process } from './process.js';
import type { Situations } from './situations.js';

/** The two stores, either of which vouches for the living. */
type Voucher = 'Postgres' | 'Redis';

/** One call of a handler, as somebody outside sees it. */
export interface Execution {
  /** Counts from 1; what a success returns, so that its row tells whose it is. */
  readonly id: number;
  readonly jobId: string;
  readonly attempt: number;
  readonly process: Process;
  readonly incarnation: string;
  readonly alone: boolean;
  readonly signal: AbortSignal;
  /** When the last renewal was sent that a store answered in time; at first when it started, which a late claim does not. Milliseconds. */
  vouchedAtMs: number;
  readonly startedAtMs: number;
  /** When its worker was first told that no row confirms it. */
  unconfirmedAtMs: number | null;
  hasReturned: boolean;
  isOver: boolean;
}

/**
 * Who runs what, kept outside everything that is under test. It also counts on its own, from the messages that pass,
 * when a run was last vouched for (`protocol.md` §6): the engine's own count is what is being judged.
 */
export class Executions {
  readonly #kernel: Kernel;
  readonly #ttlMs: number;
  readonly #situations: Situations;
  readonly #lastVouch = new Map<Process, Record<Voucher, number>>();
  readonly #got = new Set<string>();
  /** When the beats were sent that each worker had an answer to. */
  readonly #beats = new Map<Process, readonly number[]>();
  readonly #all: Execution[] = [];
  readonly #running = new Map<Process, Set<Execution>>();
  readonly #ofJob = new Map<string, Execution[]>();

  constructor(kernel: Kernel, ttlMs: number, situations: Situations) {
    this.#kernel = kernel;
    this.#ttlMs = ttlMs;
    this.#situations = situations;
  }

  begin(run: Pick<Execution, 'jobId' | 'attempt' | 'process' | 'incarnation' | 'alone' | 'signal'>): Execution {
    const startedAtMs = this.#kernel.nowMs;
    const execution: Execution = {
      ...run,
      id: this.#all.length + 1,
      startedAtMs,
      vouchedAtMs: startedAtMs,
      unconfirmedAtMs: null,
      hasReturned: false,
      isOver: false,
    };
    this.#all.push(execution);
    this.#runningOn(run.process).add(execution);
    this.#ofJob.set(run.jobId, [...this.of(run.jobId), execution]);
    return execution;
  }

  end(execution: Execution, hasReturned: boolean): void {
    execution.hasReturned = hasReturned;
    execution.isOver = true;
    this.#runningOn(execution.process).delete(execution);
  }

  find(id: number): Execution | undefined {
    return this.#all[id - 1];
  }

  of(jobId: string): readonly Execution[] {
    return this.#ofJob.get(jobId) ?? [];
  }

  get count(): number {
    return this.#all.length;
  }

  /** Handlers that were called and have neither returned nor been told to stop. */
  atWorkOn(process: Process): readonly Execution[] {
    return process.isAlive ? [...this.#runningOn(process)].filter(({ signal }) => !signal.aborted) : [];
  }

  /** Whether the process stands, has stood for a TTL, and still runs this attempt for good. */
  isAtWork(jobId: string, attempt: number): boolean {
    const sinceMs = this.#kernel.nowMs - this.#ttlMs;
    return this.of(jobId).some(
      (execution) =>
        execution.attempt === attempt &&
        !execution.isOver &&
        !execution.signal.aborted &&
        execution.process.canSpeak &&
        execution.process.standsSinceMs <= sinceMs,
    );
  }

  /** The worker's row was written by a beat sent then, and the worker knows: all it ran is vouched for. */
  onBeat(process: Process, { beliefs }: BeatReply, sentAtMs: number): void {
    this.#noteVoucher(process, 'Postgres', sentAtMs);
    if (process.isFrozen && this.#runningOn(process).size > 0) this.#situations.count('block: a heart beat on');
    this.#beats.set(process, [...(this.#beats.get(process) ?? []), sentAtMs]);
    const believed = new Set(beliefs.map(keyOf));
    for (const execution of this.#runningOn(process)) {
      this.#vouch(execution, sentAtMs);
      if (execution.startedAtMs < sentAtMs && !believed.has(keyOf(execution))) {
        execution.unconfirmedAtMs ??= this.#kernel.nowMs;
      }
    }
  }

  onRenewal(process: Process, leases: readonly Lease[], renewed: readonly boolean[], sentAtMs: number): void {
    this.#noteVoucher(process, 'Redis', sentAtMs);
    const granted = new Set(leases.filter((_lease, index) => renewed[index] === true).map(keyOf));
    for (const execution of this.#runningOn(process)) {
      if (granted.has(keyOf(execution))) this.#vouch(execution, sentAtMs);
    }
  }

  /** A worker got these claims, or learnt of them: what becomes of them is its business. */
  onClaimed(claimed: readonly ClaimedJob[]): void {
    for (const { id: jobId, attempt } of claimed) this.#got.add(keyOf({ jobId, attempt }));
  }

  hasGot(jobId: string, attempt: number): boolean {
    return this.#got.has(keyOf({ jobId, attempt }));
  }

  /** How many beats have told a worker since then what the database believes of it. */
  beatsSince(process: Process, sinceMs: number): number {
    return (this.#beats.get(process) ?? []).filter((sentAtMs) => sentAtMs > sinceMs).length;
  }

  /** For how long nobody has vouched for it. A renewal that came after a TTL without one does not count. */
  silenceMs({ vouchedAtMs }: Execution): number {
    return this.#kernel.nowMs - vouchedAtMs;
  }

  #vouch(execution: Execution, sentAtMs: number): void {
    if (this.silenceMs(execution) > this.#ttlMs) return;
    execution.vouchedAtMs = Math.max(execution.vouchedAtMs, sentAtMs);
  }

  /** One store vouches for runs of which the other has not heard for half a TTL: it missed a beat or more. */
  #noteVoucher(process: Process, voucher: Voucher, sentAtMs: number): void {
    const last = this.#lastVouch.get(process) ?? { Postgres: sentAtMs, Redis: sentAtMs };
    const other = voucher === 'Redis' ? 'Postgres' : 'Redis';
    const isAlone = this.#runningOn(process).size > 0 && sentAtMs - last[other] > this.#ttlMs / 2;
    if (isAlone) this.#situations.count(`vouched by ${voucher} alone`);
    this.#lastVouch.set(process, { ...last, [voucher]: sentAtMs });
  }

  #runningOn(process: Process): Set<Execution> {
    const running = this.#running.get(process) ?? new Set();
    if (running.size === 0) this.#running.set(process, running);
    return running;
  }
}

function keyOf({ jobId, attempt }: { readonly jobId: string; readonly attempt: number }): string {
  return `${jobId}/${attempt}`;
}
