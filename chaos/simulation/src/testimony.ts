import type { AttemptRecord, EngineEvent, Job } from '@deadman/domain';
import type { Process } from './process.js';
import type { World } from './world.js';

/** A run whose worker does not notice for so many beats that it is alone does not mean to notice. */
const BEATS_TO_NOTICE = 4;

/**
 * Holds what processes say of themselves against what the rows say: a worker that takes its own success for somebody
 * else's, or somebody else's for its own, breaks no row, and is wrong all the same.
 */
export class Testimony {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  hear(process: Process, incarnation: string, event: EngineEvent): void {
    switch (event.kind) {
      case 'attempt-settled':
        return this.#judgeSettled(event.jobId, event.attempt);
      case 'write-fenced':
        // A handler may go on after its run was settled, and its effects are fenced by that.
        if (event.operation === 'effect' || event.operation === 'step') return;
        return this.#judgeFenced(incarnation, event.jobId, event.attempt);
      case 'run-lost':
        if (event.reason === 'unconfirmed') this.#judgeLost(incarnation, event.jobId, event.attempt);
        return;
      case 'orphan-released':
        return this.#judgeOrphan(process, incarnation, event.jobId, event.attempt);
      case 'job-reclaimed':
        if (event.reason === 'timeout') this.#judgeOverrun(event.workerId, event.jobId, event.attempt);
        return;
      default:
    }
  }

  /** `protocol.md` §7: what a reaper ended was not settled by its worker. */
  #judgeSettled(jobId: string, attempt: number): void {
    const row = this.#rowOf(jobId, attempt);
    if (row === undefined || row.reclaimedBy === null) return;
    this.#add('§7 settled', jobId, `is said to be settled at ${attempt}, which ${row.reclaimedBy} had taken`);
  }

  /** `protocol.md` §2: a row written with my token means that it had already worked. A beat may release what was settling. */
  #judgeFenced(incarnation: string, jobId: string, attempt: number): void {
    const row = this.#rowOf(jobId, attempt);
    const isOwn = row?.workerId === incarnation && row.reclaimedBy === null && row.reason !== 'orphan-claim';
    if (isOwn) this.#add('§2 already', jobId, `is said to be fenced at ${attempt}, whose end its own worker wrote`);
  }

  /** `protocol.md` §6: what the database confirms is not lost. */
  #judgeLost(incarnation: string, jobId: string, attempt: number): void {
    const job = this.#world.db.jobs.get(jobId);
    if (isHeldBy(job, incarnation, attempt))
      this.#add('§6 confirmed', jobId, `is given up at ${attempt} although its row confirms it`);
  }

  /** `protocol.md` §7: an outcome is kept until it is written, or the process ends. */
  #judgeOrphan(process: Process, incarnation: string, jobId: string, attempt: number): void {
    const finished = this.#world.executions
      .of(jobId)
      .find(
        (run) => run.attempt === attempt && run.incarnation === incarnation && run.hasReturned && !run.signal.aborted,
      );
    if (finished !== undefined && !process.isStopping) {
      this.#add('§7 outcome kept', jobId, `is released at ${attempt} although run ${finished.id} had finished it`);
    }
  }

  /** `protocol.md` §6: a claim that its worker never got is given back long before its timeout. */
  #judgeOverrun(workerId: string, jobId: string, attempt: number): void {
    const process = this.#world.processOf(workerId);
    const claim = this.#world.invariants.claims.get(`${jobId}/${attempt}`);
    if (process === undefined || claim === undefined || !process.isWell || this.#world.hasFailedOver) return;
    const { nowMs, beatMs } = this.#world.watched;
    const wasGot = this.#world.executions.hasGot(jobId, attempt);
    const hadTime = this.#world.executions.beatsSince(process, claim.atMs) >= BEATS_TO_NOTICE;
    if (!wasGot && hadTime && process.standsSinceMs < nowMs - BEATS_TO_NOTICE * beatMs) {
      this.#add('§6 orphan', jobId, `was left at ${attempt} with a worker that lived and never got it`);
    }
  }

  #rowOf(jobId: string, attempt: number): AttemptRecord | undefined {
    return this.#world.db.attempts.get(jobId)?.find((row) => row.attempt === attempt);
  }

  /** After a failover the rows may tell of another history than the one that was lived. */
  #add(check: string, jobId: string, message: string): void {
    if (!this.#world.hasFailedOver) this.#world.invariants.add(check, jobId, message);
  }
}

function isHeldBy(job: Job | undefined, incarnation: string, attempt: number): boolean {
  return job?.state === 'RUNNING' && job.attempt === attempt && job.claim?.workerId === incarnation;
}
