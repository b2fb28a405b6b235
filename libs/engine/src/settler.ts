import { isDeadmanError, isTerminal, NO_FAILPOINTS, transition } from '@deadman/domain';
import type {
  ApplyResult,
  Clock,
  Decision,
  EngineEvents,
  Failpoints,
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
import { UnderWay } from './under-way.js';

export interface SettlerDeps {
  readonly store: JobStore;
  readonly leases: LeaseStore;
  readonly publisher: Publisher;
  readonly ledger: RunLedger;
  readonly clock: Clock;
  readonly events: EngineEvents;
  readonly rules: Rules;
  /** Default: none. */
  readonly failpoints?: Failpoints;
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

/**
 * As many may wait as are held: the claims are bounded, so this need not refuse anything. An outcome weighs as much as its
 * result, in UTF-16 units: the largest results go by 64 and not by 500.
 */
export const SETTLE_DEFAULTS: SettleOptions = {
  maxBatch: 500,
  maxBatchWeight: 4 * 2 ** 20,
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
  readonly #underWay = new UnderWay();
  readonly #giveUp = new AbortController();
  #abandoned = 0;

  constructor(deps: SettlerDeps, options: SettleOptions = SETTLE_DEFAULTS) {
    this.#deps = deps;
    this.#options = options;
    this.#batcher = new MicroBatcher((batch) => this.#flush(batch), options, deps.clock, weightOf);
  }

  /** Ends a run with what its attempt came to, or forgets it when the lease was lost. Never rejects. */
  async settle(run: Run, event: AttemptOutcomeEvent): Promise<void> {
    if (run.phase === 'settling' || run.phase === 'gone') return;
    if (event !== null && !run.isLost) {
      this.#deps.ledger.settle(run);
      await this.#underWay.track(this.#write(run, event)).catch((error: unknown) => this.#abandon(error));
    }
    run.finish();
    this.#deps.ledger.drop(run);
  }

  /**
   * Resolves when everything is settled, sent and released. After `withinMs` nothing is tried again: what is left lapses.
   * Returns how many outcomes were left that way.
   */
  async drain(withinMs: number): Promise<number> {
    const limit = this.#deps.clock.setTimer(withinMs, () => this.#giveUp.abort());
    await this.#underWay.settled();
    await this.#deps.publisher.flush();
    limit.cancel();
    return this.#abandoned;
  }

  #abandon(error: unknown): void {
    if (this.#giveUp.signal.aborted) this.#abandoned += 1;
    this.#report(error);
  }

  /** An outcome that the database refuses is replaced by one that says so, so that the job does not stay RUNNING. */
  async #write(run: Run, event: EndingEvent): Promise<void> {
    const decided = this.#decide(run, event);
    try {
      this.#announce(run, decided, await this.#batcher.add({ run, transition: decided }));
    } catch (error) {
      const substitute = isDeadmanError(error, 'data-rejected') ? substituteFor(event) : null;
      if (substitute === null) throw error;
      await this.#write(run, substitute);
    }
  }

  #decide(run: Run, event: JobEvent): Transition {
    const decided = transition(run.job, event, this.#deps.rules);
    if ('refused' in decided) throw new TypeError(`A run cannot end with '${event.kind}' from ${decided.from}`);
    return decided;
  }

  async #flush(batch: readonly Settlement[]): Promise<readonly Answer<ApplyResult>[]> {
    const answers = new Map<Settlement, Answer<ApplyResult>>();
    for (const part of withoutRepeatedJobs(batch)) {
      const results = await bisect<Settlement, Answer<ApplyResult>>(
        part,
        async (half) => (await this.#applyForSure(half)).map((value) => ({ value })),
        (_settlement, error) => ({ error }),
      );
      part.forEach((settlement, index) => answers.set(settlement, results[index]!));
    }
    return batch.map((settlement) => answers.get(settlement)!);
  }

  /** Repeating is safe: what an earlier try wrote answers `already`. */
  async #applyForSure(batch: readonly Settlement[]): Promise<readonly ApplyResult[]> {
    const { store, failpoints = NO_FAILPOINTS } = this.#deps;
    const decisions = batch.map(({ transition: decided }) => decided);
    for (let waitMs = this.#options.retryMs; ; waitMs = Math.min(waitMs * 2, this.#options.maxRetryMs)) {
      try {
        await failpoints.at('before_settle');
        const { results, outbox } = await store.apply(decisions);
        await failpoints.at('after_settle');
        void this.#underWay.track(this.#deps.publisher.send(outbox));
        void this.#underWay.track(this.#release(batch));
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
}

function weightOf({ transition: decided }: Settlement): number {
  return decided.decision.result?.length ?? 0;
}

/**
 * A store takes one transition of a job at a time. Two meet here when a claim that was taken away is settled late and the
 * job has come back to this worker meanwhile; the earlier one is judged first.
 */
function withoutRepeatedJobs(batch: readonly Settlement[]): readonly (readonly Settlement[])[] {
  const parts: Settlement[][] = [];
  const mentions = new Map<string, number>();
  for (const settlement of batch) {
    const { id } = settlement.run.job;
    const mentioned = mentions.get(id) ?? 0;
    (parts[mentioned] ??= []).push(settlement);
    mentions.set(id, mentioned + 1);
  }
  return parts;
}

/** The decision that the store says it wrote. `already` means an earlier try of ours did, most likely the first one of them. */
function written(decided: Transition, result: ApplyResult): Decision {
  if (result.kind !== 'applied' || result.by === 'decision') return decided.decision;
  const verdict: Verdict = (result.by === 'effects-missing' ? decided.withoutEffects : null) ?? decided;
  return (result.state === 'CANCELLED' ? verdict.underCancel : null) ?? verdict.decision;
}

/** What to record when the database refuses an outcome: that it does, and if even that is refused, as good as nothing. */
function substituteFor(event: EndingEvent): EndingEvent | null {
  const { kind, startedAfterMs } = event;
  if (kind === 'succeed') {
    const error = attemptError('result-not-storable', 'The database refuses the result.');
    return { kind: 'fail', error, retryable: false, startedAfterMs };
  }
  if (kind !== 'fail') return { kind: 'fail', error: MINIMAL_ERROR, retryable: true, startedAfterMs };
  return event.error === MINIMAL_ERROR ? null : { ...event, error: MINIMAL_ERROR };
}
