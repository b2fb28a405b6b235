import { JOB_STATES, isDeadmanError } from '@deadman/domain';
import type { EngineEvent, Job, StepContext } from '@deadman/domain';
import type { Worker } from '@deadman/engine';
import type { Execution } from './executions.js';
import type { Fate, NetworkListener } from './network.js';
import type { Process } from './process.js';
import { nameOf, WORLD } from './story.js';
import type { Story } from './story.js';
import type { World } from './world.js';

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A reap, and whether its victim was at work at that moment. */
interface Reap {
  readonly jobId: string;
  readonly attempt: number;
  readonly token: string;
  readonly wasAtWork: boolean;
}

/** Sees everything: keeps the story, and counts the situations that came about. */
export class Historian implements NetworkListener {
  readonly #world: World;
  readonly #story: Story;
  readonly #reaps: Reap[] = [];
  readonly #told = new Map<string, number>();

  constructor(world: World, story: Story) {
    this.#world = world;
    this.#story = story;
  }

  get reaps(): readonly Reap[] {
    return this.#reaps;
  }

  onChange(before: Job | undefined, after: Job): void {
    const { id, state, attempt, claim } = after;
    this.#story.mix(this.#world.kernel.nowMs, Number.parseInt(id.slice(-12), 16), JOB_STATES.indexOf(state), attempt);
    this.#world.tell('database', () => {
      const holder = claim === null ? '' : ` of ${this.#world.processOf(claim.workerId)?.name ?? 'a dead worker'}`;
      const cancel = after.cancelRequestedAt === null ? '' : ', cancel asked';
      return `${nameOf(id)} ${before?.state ?? 'new'} → ${state}${holder}, attempt ${attempt}${cancel}`;
    });
    if (before?.state !== 'RUNNING' && state === 'RUNNING') this.#onClaim(after);
    if (state === 'SCHEDULED' && before !== undefined && after.lapses > before.lapses) this.#count('quarantined');
    if (state === 'DEAD') this.#count('death');
  }

  #onClaim({ id, attempt, claim }: Job): void {
    const earlier = this.#world.invariants.claims.get(`${id}/${attempt}`);
    if (earlier !== undefined && earlier.token !== claim?.token) this.#count('attempt number given out twice');
  }

  /** A reap is false when its victim has stood for a TTL and runs the job all the same. It costs a run, and is counted. */
  onLapse(job: Job): void {
    const { id: jobId, attempt, claim } = job;
    this.#count('reap');
    if (job.cancelRequestedAt !== null) this.#count('lapse under a cancel');
    const wasAtWork = this.#world.executions.isAtWork(jobId, attempt);
    this.#reaps.push({ jobId, attempt, token: claim!.token, wasAtWork });
  }

  onStart({ id, jobId, attempt, process }: Execution): void {
    this.#story.mix(this.#world.kernel.nowMs, id, attempt);
    this.#count('execution');
    this.#world.tell(process.name, () => `runs ${nameOf(jobId)}, attempt ${attempt} (run ${id})`);
  }

  onEffect({ id, jobId, attempt, process }: Execution): void {
    const fired = (this.#told.get(jobId) ?? 0) + 1;
    this.#told.set(jobId, fired);
    this.#count('effect fired');
    if (fired > 1) this.#count('effect fired again');
    this.#world.tell(process.name, () => `fires the effect of ${nameOf(jobId)}, attempt ${attempt} (run ${id})`);
  }

  onStep({ id, jobId, attempt, process }: Execution, { isInDoubt }: StepContext): void {
    if (isInDoubt) this.#count('step in doubt');
    this.#world.tell(process.name, () => `does the step of ${nameOf(jobId)}, attempt ${attempt} (run ${id})`);
  }

  onFate(sender: Process, fate: Fate, what: string, args: readonly unknown[]): void {
    this.#count(fate);
    const isUnknown = fate === 'replyLost' || fate === 'requestDelayed';
    if (isUnknown && what === 'postgres submit') this.#count('submit of unknown outcome');
    this.#world.tell(sender.name, () => `${what} ${TOLD[fate]}${mentioned(args)}`);
  }

  onUnheard(_sender: Process, what: string, result: unknown): void {
    const isClaim = what === 'postgres claim' || what === 'postgres claimIdle';
    if (isClaim && (result as readonly unknown[]).length > 0) this.#count('claim reply lost');
  }

  onBug(error: unknown): void {
    this.#world.invariants.add('bug', '', error instanceof Error ? (error.stack ?? error.message) : String(error));
  }

  hear(process: Process, worker: Worker | null, event: EngineEvent): void {
    this.#countEvent(worker, event);
    if (!('jobId' in event)) return;
    const detail = 'reason' in event && event.reason !== null ? ` (${event.reason})` : '';
    this.#world.tell(process.name, () => `${event.kind} ${nameOf(event.jobId)}, attempt ${event.attempt}${detail}`);
  }

  #countEvent(worker: Worker | null, event: EngineEvent): void {
    switch (event.kind) {
      case 'write-fenced':
        if (event.operation === 'effect' || event.operation === 'step') this.#count(`${event.operation} fenced`);
        return this.#count(
          this.#wasReaped(event.jobId, event.attempt) ? 'zombie settled after reap' : 'fenced otherwise',
        );
      case 'attempt-settled':
        if (event.reason === 'not-started') this.#count('late claim not started');
        if (event.reason === 'orphan-claim') this.#count('orphan claim released');
        if (event.state === 'DEAD') this.#count(`died of ${event.reason}`);
        return;
      case 'run-lost':
        return this.#count(`lost run aborted: ${event.reason}`);
      case 'jobs-claimed':
        if (event.by === 'idle' && (worker?.busySlots ?? 0) > 0) this.#count('idle claim used by a busy worker');
        if (event.by === 'quarantine') this.#count('ran alone from quarantine', event.count);
        return;
      case 'job-reclaimed':
        if (event.state === 'DEAD') this.#count('died of crash-loop');
        return this.#count(`job-reclaimed ${event.reason}`);
      case 'run-aborted':
        if (event.reason === 'shutdown') this.#count('restart: a run handed back');
        return this.#count(`run-aborted ${event.reason}`);
      case 'dead-letter-recorded':
        return this.#count(event.superseded ? 'superseded dead letter' : 'dead letter');
      case 'tickets-handled':
        return this.#count(`ticket ${event.result}`, event.count);
      case 'jobs-submitted':
        return this.#count('submission replayed', event.replayed);
      case 'outbox-sent':
        if (event.by === 'relay') this.#count('sent by the relay', event.count);
        return;
      case 'reaper-scanned':
        if (event.storeUnbrokenMs < this.#world.watched.ttlMs) this.#count('scan held back by a broken store');
        if (!event.isLeaseStoreTrusted) this.#count('lease store not trusted');
        return;
      case 'drain-for-quarantine':
        return this.#count('drain-for-quarantine');
      case 'loop-failed':
        return this.#judgeError(event.loop, event.error);
      case 'beat-failed':
      case 'claim-failed':
        return this.#judgeError(event.kind, event.error);
      default:
    }
  }

  /** Loops live through every error; one that is not operational is a bug all the same. */
  #judgeError(loop: string, error: unknown): void {
    if (isDeadmanError(error)) this.#count(`${loop}: ${error.code}`);
    else this.onBug(error);
  }

  #wasReaped(jobId: string, attempt: number): boolean {
    const history = this.#world.db.attempts.get(jobId) ?? [];
    return history.some((row) => row.attempt === attempt && row.reclaimedBy !== null);
  }

  #count(what: string, by = 1): void {
    if (by > 0) this.#world.situations.count(what, by);
  }

  tellViolation(check: string, message: string): void {
    this.#world.tell(WORLD, () => `${check}: ${message}`);
  }
}

const TOLD: Record<Fate, string> = {
  requestLost: 'never arrives',
  replyLost: 'is carried out, its reply is lost',
  requestDelayed: 'is said to have failed, and will arrive later',
  requestDoubled: 'arrives twice',
  senderKilled: 'is carried out, and its sender dies',
  statementRefused: 'is broken off',
};

/** The jobs that a request is about. */
function mentioned(args: readonly unknown[]): string {
  const ids = new Set(JSON.stringify(args).match(UUID)?.map(nameOf));
  return ids.size === 0 ? '' : `: ${[...ids].join(', ')}`;
}
