import { NO_FAILPOINTS, OUTCOME } from '@deadman/domain';
import type {
  AbortReasonCode,
  Clock,
  EngineEvents,
  Failpoints,
  Handler,
  HandlerContext,
  HandlerJob,
  HandlerLog,
  HandlerOutcome,
  JobEvent,
  Timer,
} from '@deadman/domain';
import { attemptError, captureError } from './attempt-error.js';
import { resultText } from './attempt-result.js';
import type { HandlerRegistry } from './handler-registry.js';
import { NO_EFFECTS } from './run-effects.js';
import type { RunEffects } from './run-effects.js';
import type { RunLedger } from './run-ledger.js';
import { idempotencyKey } from './run.js';
import type { Run } from './run.js';

/** Longest delay that timers take, about 24.8 days. Milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Longest snooze: as far as a `runAt` may lie ahead. Milliseconds. */
const MAX_SNOOZE_MS = 10 * 366 * 86_400_000;

export interface AttemptRunnerDeps {
  readonly registry: HandlerRegistry;
  readonly ledger: Pick<RunLedger, 'start'>;
  readonly clock: Clock;
  readonly events: EngineEvents;
  /** Makes the log that a handler writes to. */
  readonly log: (job: HandlerJob) => HandlerLog;
  /** Takes what a handler says of its progress. Throws TypeError for a value that cannot be shown. */
  readonly progress: (run: Run, value: unknown) => void;
  /** Makes what a run does effectively once. Default: a handler that asks for it is refused. */
  readonly effects?: (run: Run) => RunEffects;
  /** Default: none. */
  readonly failpoints?: Failpoints;
}

/** How long a handler may go on after its signal was aborted before the run is settled without it. Milliseconds. */
export type AbortGraces = Readonly<Record<AbortReasonCode, number>>;

/** What happened to the job, or null when nothing may be written because the lease was lost. */
export type AttemptOutcomeEvent = Extract<JobEvent, { readonly startedAfterMs: number | null }> | null;

/** Runs one attempt: checks the payload, calls the handler, and says what its end means. */
export class AttemptRunner {
  readonly #deps: AttemptRunnerDeps;
  readonly #graces: AbortGraces;
  /** For each run that was aborted and goes on: ends it without its handler. */
  readonly #giveUps = new Set<() => void>();

  constructor(deps: AttemptRunnerDeps, graces: AbortGraces) {
    this.#deps = deps;
    this.#graces = graces;
  }

  /** Never rejects: whatever a handler does has a meaning. */
  async run(run: Run): Promise<AttemptOutcomeEvent> {
    const handler = this.#deps.registry.find(run.job.type);
    if (handler === undefined) return { kind: 'release', reason: 'not-started', startedAfterMs: null };
    this.#start(run);
    const { clock } = this.#deps;
    const timeout = clock.setTimer(Math.min(run.job.timeoutMs, MAX_TIMER_MS), () => run.abort('timeout'));
    try {
      return await this.#untilGivenUp(run, this.#call(run, handler));
    } finally {
      timeout.cancel();
    }
  }

  /** Ends every run that was aborted, as the end of its grace would. */
  giveUpAborted(): void {
    for (const giveUp of this.#giveUps) giveUp();
  }

  #start(run: Run): void {
    const { clock, events, ledger } = this.#deps;
    ledger.start(run, clock.monotonicMs());
    const { id, type, queue, attempt, claim, scheduledFor } = run.job;
    const waitedMs = claim.claimedAt.getTime() - scheduledFor.getTime() + (run.startedAfterMs ?? 0);
    events.emit({ kind: 'attempt-started', jobId: id, type, queue, attempt, waitedMs: Math.max(0, waitedMs) });
  }

  /** The handler's end, or that of the patience with it: a handler that ignores its signal keeps neither slot nor job. */
  #untilGivenUp(run: Run, end: Promise<AttemptOutcomeEvent>): Promise<AttemptOutcomeEvent> {
    return new Promise((resolve) => {
      let grace: Timer | null = null;
      const conclude = (event: AttemptOutcomeEvent): void => {
        run.signal.removeEventListener('abort', onAbort);
        this.#giveUps.delete(giveUp);
        grace?.cancel();
        resolve(event);
      };
      const giveUp = (): void => {
        if (run.abortedBy !== null) conclude(abortedEvent(run, run.abortedBy));
      };
      const onAbort = (): void => {
        if (run.abortedBy === null) return;
        this.#announceAbort(run, run.abortedBy);
        this.#giveUps.add(giveUp);
        grace = this.#deps.clock.setTimer(this.#graces[run.abortedBy], giveUp);
      };
      if (run.signal.aborted) onAbort();
      else run.signal.addEventListener('abort', onAbort, { once: true });
      void end.then(conclude);
    });
  }

  #announceAbort({ lease: { jobId, attempt }, job: { type, queue } }: Run, reason: AbortReasonCode): void {
    this.#deps.events.emit({ kind: 'run-aborted', reason, jobId, type, queue, attempt });
  }

  async #call(run: Run, handler: Handler): Promise<AttemptOutcomeEvent> {
    try {
      const parsed = await handler.parse(JSON.parse(run.job.payload));
      if ('issues' in parsed) return payloadInvalid(run, parsed.issues);
      return await this.#runHandler(run, handler, parsed.value);
    } catch (thrown) {
      return run.abortedBy === null ? failure(run, thrown, true) : abortedEvent(run, run.abortedBy);
    }
  }

  /** What a handler has begun and not waited for is waited for here, so that the outcome names every effect there is. */
  async #runHandler(run: Run, handler: Handler, payload: unknown): Promise<AttemptOutcomeEvent> {
    const { effects: effectsOf, failpoints = NO_FAILPOINTS } = this.#deps;
    const effects = effectsOf?.(run) ?? NO_EFFECTS;
    let returned: unknown;
    let seen: readonly string[];
    try {
      const end = handler.run(this.#contextOf(run, payload, effects));
      const failpoint = failpoints.at('mid_handler');
      returned = failpoint === undefined ? await end : (await Promise.all([end, failpoint]))[0];
    } finally {
      seen = await effects.end();
    }
    return eventOf(run, returned, seen);
  }

  #contextOf(run: Run, payload: unknown, { transaction, step }: RunEffects): HandlerContext {
    const { id, type, queue, attempt, failures, lapses, maxAttempts, createdAt, tags } = run.job;
    const job: HandlerJob = { id, type, queue, attempt, failures, lapses, maxAttempts, createdAt, tags };
    return {
      payload,
      payloadText: run.job.payload,
      job,
      signal: run.signal,
      log: this.#deps.log(job),
      progress: (value) => this.#deps.progress(run, value),
      idempotencyKey: (scope) => idempotencyKey(id, scope),
      transaction,
      step,
    };
  }
}

/** Once the signal was aborted, its reason decides what a throw means (`protocol.md` §7). */
export function abortedEvent(run: Run, reason: AbortReasonCode): AttemptOutcomeEvent {
  const { startedAfterMs } = run;
  switch (reason) {
    case 'shutdown':
      return { kind: 'release', reason: 'shutdown', startedAfterMs };
    case 'cancelled':
      return { kind: 'cancelled', startedAfterMs };
    case 'timeout':
      return {
        kind: 'fail',
        error: attemptError('timeout', `The attempt ran longer than its ${run.job.timeoutMs} ms.`),
        retryable: true,
        startedAfterMs,
      };
    case 'lease-lost':
      return null;
  }
}

/** A handler that returns has decided, whatever its signal said. */
function eventOf(run: Run, returned: unknown, effects: readonly string[]): AttemptOutcomeEvent {
  if (!isOutcome(returned)) return success(run, returned, effects);
  const { startedAfterMs } = run;
  switch (returned[OUTCOME]) {
    case 'done':
      return success(run, returned.result, effects);
    case 'snooze':
      return { kind: 'snooze', delayMs: snoozeMs(returned.delayMs), startedAfterMs };
    case 'cancel':
      return { kind: 'cancelled', startedAfterMs };
    case 'dead':
      return failure(run, returned.error, false);
    default:
      return unknownOutcome(run);
  }
}

/** A newer SDK than this worker knows, or a look-alike. It would end no better the next time. */
function unknownOutcome({ startedAfterMs }: Run): AttemptOutcomeEvent {
  const error = attemptError('outcome-unknown', 'The handler returned an outcome that this worker does not know.');
  return { kind: 'fail', error, retryable: false, startedAfterMs };
}

function success(run: Run, value: unknown, effects: readonly string[]): AttemptOutcomeEvent {
  const result = resultText(value);
  const { startedAfterMs } = run;
  if ('error' in result) return { kind: 'fail', error: result.error, retryable: false, startedAfterMs };
  return { kind: 'succeed', result: result.text, effects, startedAfterMs };
}

function failure(run: Run, thrown: unknown, retryable: boolean): AttemptOutcomeEvent {
  return { kind: 'fail', error: captureError(thrown), retryable, startedAfterMs: run.startedAfterMs };
}

function payloadInvalid(run: Run, issues: readonly { pointer: string; message: string }[]): AttemptOutcomeEvent {
  const message = `The payload does not fit the handler of '${run.job.type}'.`;
  const { startedAfterMs } = run;
  return { kind: 'fail', error: attemptError('payload-invalid', message, issues), retryable: false, startedAfterMs };
}

/** What is no number of milliseconds becomes the shortest snooze; the transition lengthens it to what is allowed. */
function snoozeMs(delayMs: number): number {
  return Number.isFinite(delayMs) ? Math.min(Math.max(0, Math.round(delayMs)), MAX_SNOOZE_MS) : 0;
}

function isOutcome(returned: unknown): returned is HandlerOutcome {
  return typeof returned === 'object' && returned !== null && OUTCOME in returned;
}
