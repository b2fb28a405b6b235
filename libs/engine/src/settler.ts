import { isDeadmanError, isTerminal, transition } from '@deadman/domain';
import type {
  ApplyResult,
  Clock,
  Decision,
  EngineEvents,
  JobEvent,
  JobStore,
  LeaseStore,
  Rules,
  Transition,
  Verdict,
} from '@deadman/domain';
import { attemptError, MINIMAL_ERROR } from './attempt-error.js';
import type { AttemptOutcomeEvent } from './attempt-runner.js';
import { bisect } from './bisect.js';
import { MicroBatcher } from './micro-batcher.js';
import type { Answer, BatchOptions } from './micro-batcher.js';
import type { Publisher } from './publisher.js';
import type { RunLedger } from './run-ledger.js';
import type { Run } from './run.js';

export interface SettlerDeps {
  readonly store: JobStore;
  readonly leases: LeaseStore;
  readonly publisher: Publisher;
  readonly ledger: RunLedger;
  readonly clock: Clock;
  readonly events: EngineEvents;
  readonly rules: Rules;
}

export interface SettleOptions extends BatchOptions {
  /** Wait before the second try when the store is away; doubles up to `maxRetryMs`. Milliseconds. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
}

type EndingEvent = NonNullable<AttemptOutcomeEvent>;

interface Settlement {
  readonly run: Run;
  readonly transition: Transition;
}

/** As many may wait as are held: the claims are bounded, so this need not refuse anything. */
export const SETTLE_DEFAULTS: SettleOptions = {
  maxBatch: 500,
  maxWaiting: Number.POSITIVE_INFINITY,
  lingerMs: 5,
  concurrency: 2,
  retryMs: 100,
  maxRetryMs: 2_000,
};

/**
 * Writes what became of attempts, in batches, each row behind its own fence. An outcome is kept and tried again for as
 * long as the store is away: only the fence can say that it no longer counts (`protocol.md` §7).
 */
export class Settler {
  readonly #deps: SettlerDeps;
  readonly #options: SettleOptions;
  readonly #batcher: MicroBatcher<Settlement, ApplyResult>;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #giveUp = new AbortController();

  constructor(deps: SettlerDeps, options: SettleOptions = SETTLE_DEFAULTS) {
    this.#deps = deps;
    this.#options = options;
    this.#batcher = new MicroBatcher((batch) => this.#flush(batch), options, deps.clock);
  }

  /** Ends a run with what its attempt came to, or forgets it when the lease was lost. Never rejects. */
  async settle(run: Run, event: AttemptOutcomeEvent): Promise<void> {
    if (run.phase === 'settling' || run.phase === 'gone') return;
    if (event !== null && !run.isLost) {
      run.phase = 'settling';
      await this.#write(run, event).catch((error: unknown) => this.#report(error));
    }
    run.finish();
    this.#deps.ledger.drop(run);
  }

  /** Resolves when everything is settled, sent and released, or at the latest after `withinMs`: what is left then lapses. */
  async drain(withinMs: number): Promise<void> {
    const limit = this.#deps.clock.setTimer(withinMs, () => this.#giveUp.abort());
    await this.#batcher.idle();
    await Promise.allSettled(this.#underWay);
    limit.cancel();
  }

  /** An outcome that the database refuses is replaced by one that says so, so that the job does not stay RUNNING. */
  async #write(run: Run, event: EndingEvent): Promise<void> {
    for (const candidate of [event, ...substitutesFor(event)]) {
      try {
        const decided = this.#decide(run, candidate);
        return this.#announce(run, decided, await this.#batcher.add({ run, transition: decided }));
      } catch (error) {
        if (!isDeadmanError(error, 'data-rejected')) throw error;
      }
    }
    throw new TypeError(`No record of job ${run.job.id} could be stored`);
  }

  #decide(run: Run, event: JobEvent): Transition {
    const decided = transition(run.job, event, this.#deps.rules);
    if ('refused' in decided) throw new TypeError(`A run cannot end with '${event.kind}' from ${decided.from}`);
    return decided;
  }

  async #flush(batch: readonly Settlement[]): Promise<readonly Answer<ApplyResult>[]> {
    return bisect<Settlement, Answer<ApplyResult>>(
      batch,
      async (part) => (await this.#applyForSure(part)).map((value) => ({ value })),
      (_settlement, error) => ({ error }),
    );
  }

  /** Repeating is safe: what an earlier try wrote answers `already`. */
  async #applyForSure(batch: readonly Settlement[]): Promise<readonly ApplyResult[]> {
    const decisions = batch.map(({ transition: decided }) => decided);
    for (let waitMs = this.#options.retryMs; ; waitMs = Math.min(waitMs * 2, this.#options.maxRetryMs)) {
      try {
        const { results, outbox } = await this.#deps.store.apply(decisions);
        this.#track(this.#deps.publisher.send(outbox));
        this.#track(this.#release(batch));
        return results;
      } catch (error) {
        if (!isDeadmanError(error) || !error.retryable || this.#giveUp.signal.aborted) throw error;
        this.#report(error);
        await this.#deps.clock.sleep(waitMs, this.#giveUp.signal);
      }
    }
  }

  /** A lease that cannot be deleted now lapses by itself, and the job's row decides anyway. */
  async #release(batch: readonly Settlement[]): Promise<void> {
    await this.#deps.leases.release(batch.map(({ run }) => run.lease)).catch((error: unknown) => this.#report(error));
  }

  #announce(run: Run, decided: Transition, result: ApplyResult): void {
    const { jobId, attempt } = run.lease;
    if (result.kind === 'fenced') {
      this.#deps.events.emit({ kind: 'write-fenced', operation: decided.event, jobId, attempt });
      return;
    }
    const { state, ends } = written(decided, result);
    const { type, queue } = run.job;
    this.#deps.events.emit({
      kind: 'attempt-settled',
      jobId,
      attempt,
      type,
      queue,
      outcome: ends?.outcome ?? 'released',
      state,
      ranMs: run.ranMs,
      endToEndMs: isTerminal(state) ? this.#endToEndMs(run) : null,
      error: ends?.error ?? null,
      reason: ends?.reason ?? null,
    });
  }

  /** From submit to claim by the database's clock, and from there by ours. */
  #endToEndMs({ job, claimedAtMs }: Run): number {
    const waitedMs = job.claim.claimedAt.getTime() - job.createdAt.getTime();
    return Math.max(0, waitedMs + this.#deps.clock.monotonicMs() - claimedAtMs);
  }

  #report(error: unknown): void {
    this.#deps.events.emit({ kind: 'loop-failed', loop: 'settle', error });
  }

  #track(work: Promise<unknown>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }
}

/** The decision that the store says it wrote. `already` means an earlier try of ours did, most likely the first one of them. */
function written(decided: Transition, result: ApplyResult): Decision {
  if (result.kind !== 'applied' || result.by === 'decision') return decided.decision;
  const verdict: Verdict = (result.by === 'effects-missing' ? decided.withoutEffects : null) ?? decided;
  return (result.state === 'CANCELLED' ? verdict.underCancel : null) ?? verdict.decision;
}

/** What to record when the database refuses the outcome itself: a failure that says so, then one that says as good as nothing. */
function substitutesFor(event: EndingEvent): readonly EndingEvent[] {
  const { startedAfterMs } = event;
  const minimal: EndingEvent = {
    kind: 'fail',
    error: MINIMAL_ERROR,
    retryable: event.kind === 'fail' && event.retryable,
    startedAfterMs,
  };
  if (event.kind !== 'succeed') return [minimal];
  const error = attemptError('result-not-storable', 'The database refuses the result.');
  return [{ kind: 'fail', error, retryable: false, startedAfterMs }, minimal];
}
