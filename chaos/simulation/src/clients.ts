import { admit, isDeadmanError, isTerminal, NOW } from '@deadman/domain';
import type { JobSpec, RetryPolicy, Submission, Submitted } from '@deadman/domain';
import { BULK_QUEUE, DEFAULT_QUEUE } from './deployment.js';
import type { Dice } from './dice.js';
import { CountedIds } from './ids.js';
import { JOB_TYPE, RARE_TYPE, scriptJob, scriptOf } from './sim-handler.js';
import type { Script } from './sim-handler.js';
import { nameOf } from './story.js';
import type { RedriveAnswer, RetryAnswer } from '@deadman/engine';
import type { SubmittedBatch } from './verdict.js';
import type { Intake, World } from './world.js';

/** How long a client waits for an answer before it thinks it has none. Milliseconds. */
const PATIENCE_MS = 4_000;
const MOST_TRIES = 8;
/** Longest that a job waits after a failure. Milliseconds. */
export const LONGEST_BACKOFF_MS = 3_000;
/** And how often it may wait so. */
export const MOST_ATTEMPTS = 7;

/** Of every kind, and none that waits for longer than `LONGEST_BACKOFF_MS`. */
const POLICIES: readonly RetryPolicy[] = [
  { kind: 'exponential', baseMs: 300, factor: 2, maxMs: LONGEST_BACKOFF_MS, jitter: 'full' },
  { kind: 'exponential', baseMs: 300, factor: 2, maxMs: LONGEST_BACKOFF_MS, jitter: 'full' },
  { kind: 'exponential', baseMs: 500, factor: 3, maxMs: LONGEST_BACKOFF_MS, jitter: 'equal' },
  { kind: 'exponential', baseMs: 100, factor: 5, maxMs: 2_000, jitter: 'none' },
  { kind: 'fixed', baseMs: 0 },
  { kind: 'fixed', baseMs: 700 },
  { kind: 'none' },
];

type Spec = Omit<JobSpec, 'id'>;

/** A request to take jobs in, as it is repeated until it is answered. */
interface Order {
  readonly specs: readonly Spec[];
  /** Which of the bodies that are handed in under its keys. */
  readonly body: number;
}

/** What somebody wants to start over. */
interface Wish {
  readonly what: 'retry' | 'redrive';
  readonly jobId: string;
  /** The attempt at which the dead letter says that it died; null when it is not by a letter. */
  readonly fromDeathAt: number | null;
}

/** What a client hears of a request, if anything. */
type Answer<T> = { readonly value: T } | { readonly error: unknown } | 'silence';

/** People and programs outside: they submit, repeat what was not answered, cancel, retry, and remember what they were told. */
export class Clients {
  readonly #world: World;
  readonly #ids = new CountedIds(0xffff);
  /** What was submitted as one. */
  readonly batches: SubmittedBatch[] = [];
  #open = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** No request will be repeated any more. */
  get isDone(): boolean {
    return this.#open === 0;
  }

  begin(): void {
    const { plan, kernel } = this.#world;
    for (const number of plan.jobs) {
      const dice = this.#world.dice.split(`job ${number}`);
      this.#open += 1;
      kernel.after(dice.integer(0, plan.untilMs * 0.8), () => this.#submit(number, dice));
    }
  }

  #submit(number: number, dice: Dice): void {
    const size = dice.chance(0.1) ? dice.integer(2, 4) : 1;
    const hasKey = size > 1 || dice.chance(0.7);
    const isPoison = this.#world.plan.hasPoison && number === 0;
    const order = (of: Dice, body: number): Order => ({
      specs: Array.from({ length: size }, (_, index) => {
        const key = hasKey ? `key-${number}-${index}` : null;
        return this.#spec(key, { ...scriptJob(of, isPoison), body }, of);
      }),
      body,
    });
    const first = order(dice, 0);
    if (size > 1) this.batches.push({ keys: first.specs.map(({ idempotencyKey }) => idempotencyKey!) });
    if (hasKey) this.#rival(order, dice.split('rival'));
    void this.#submitUntilTold(first, dice);
  }

  /** Now and then somebody hands in another body under the same keys. */
  #rival(order: (of: Dice, body: number) => Order, dice: Dice): void {
    if (!dice.chance(0.15)) return;
    const rival = order(dice, 1);
    this.#open += 1;
    this.#world.kernel.after(dice.integer(0, 6_000), () => void this.#submitUntilTold(rival, dice));
  }

  #spec(idempotencyKey: string | null, script: Script, dice: Dice): Spec {
    const type = dice.chance(0.15) ? RARE_TYPE : JOB_TYPE;
    const timeoutMs = dice.pick([3_000, 20_000]);
    const terms = dice.split(`terms ${idempotencyKey}`);
    return {
      type,
      queue: terms.chance(0.2) ? BULK_QUEUE : DEFAULT_QUEUE,
      payload: JSON.stringify(script),
      maxAttempts: terms.pick([1, 2, 4, 4, 4, MOST_ATTEMPTS]),
      retry: terms.pick(POLICIES),
      timeoutMs,
      tags: [],
      idempotencyKey,
      traceparent: null,
    };
  }

  /** Each try is a new request with new ids; only the keys make them one. Without keys nobody dares to repeat. */
  async #submitUntilTold(order: Order, dice: Dice): Promise<void> {
    const mayRepeat = order.specs[0]!.idempotencyKey !== null;
    for (let tries = 1; tries <= (mayRepeat ? MOST_TRIES : 1); tries += 1) {
      const failovers = this.#world.failovers;
      const answer = await this.#ask(dice, (intake) => this.#send(intake, order));
      if (answer !== 'silence' && 'value' in answer) {
        // What a failover lost while the answer was under way is nobody's promise.
        const isSure = failovers === this.#world.failovers;
        for (const submitted of answer.value) {
          this.#judgeKey(submitted, order.body);
          const { id } = submitted.job;
          if (isSure || this.#world.db.jobs.has(id)) this.#accept(id, dice);
        }
        break;
      }
      await this.#pause(dice.integer(50, 1_500));
    }
    this.#open -= 1;
  }

  #send({ submitter }: Intake, { specs, body }: Order): Promise<readonly Submitted[]> {
    const batch = specs.map((spec): Submission => {
      const id = this.#ids.timeOrdered();
      const { delayMs } = scriptOf(spec);
      const due = delayMs === 0 ? NOW : ({ kind: 'after', delayMs } as const);
      const fingerprint = spec.idempotencyKey === null ? null : { body: String(body) };
      return { job: { id, ...spec }, transition: admit(id, due), fingerprint };
    });
    if (batch.length > 1) return submitter.submitAtomic(batch);
    return submitter.submit(batch[0]!).then((submitted) => [submitted]);
  }

  /** Whoever comes second is told of the first one's job, and by its fingerprint that it is another (`protocol.md` §3). */
  #judgeKey(submitted: Submitted, body: number): void {
    const { job } = submitted;
    const stored = scriptOf(job).body;
    const told = submitted.kind === 'created' ? body : Number(submitted.fingerprint['body']);
    if (told !== stored)
      this.#world.invariants.report('G1 key', job, `has body ${stored}, and a client was told ${told}`);
    if (stored !== body) this.#world.situations.count('key held by another body');
  }

  #accept(jobId: string, dice: Dice): void {
    const { promises, kernel } = this.#world;
    promises.accepted.add(jobId);
    this.#world.tell('client', () => `is told that ${nameOf(jobId)} is stored`);
    if (dice.chance(0.15)) kernel.after(dice.integer(0, 8_000), () => void this.#cancel(jobId, dice));
    if (dice.chance(0.1)) kernel.after(dice.integer(0, 20_000), () => void this.#retry(jobId, dice));
    if (dice.chance(0.2)) kernel.after(dice.integer(5_000, 20_000), () => void this.#redrive(jobId, dice));
  }

  async #cancel(jobId: string, dice: Dice): Promise<void> {
    const { promises, situations, failovers } = this.#world;
    const retries = promises.retriesOf(jobId);
    const answer = await this.#ask(dice, ({ commands }) => commands.cancel(jobId));
    if (answer === 'silence' || 'error' in answer) return situations.count('cancel not answered');
    const { value } = answer;
    situations.count(`cancel ${value.kind}`);
    this.#world.tell('client', () => `asks to cancel ${nameOf(jobId)} and is told: ${value.kind}`);
    if (value.kind === 'unknown') return this.#judgeUnknown('cancel', jobId, failovers);
    if (value.kind === 'finished' && !isTerminal(value.job.state)) {
      this.#world.invariants.report('§11 cancel kept', value.job, `is said to have ended and is ${value.job.state}`);
    }
    // A retry that was asked for meanwhile may have come between, and one that was not answered may still come.
    const mayBeRetried = promises.hasOpenRetries(jobId) || retries !== promises.retriesOf(jobId);
    const mayBeUndone = mayBeRetried || failovers !== this.#world.failovers;
    if (!mayBeUndone) promises.cancels.set(jobId, { answer: value.kind, attempt: value.job.attempt });
  }

  async #retry(jobId: string, dice: Dice): Promise<void> {
    await this.#startOver({ what: 'retry', jobId, fromDeathAt: null }, dice, ({ commands }) => commands.retry(jobId));
  }

  async #redrive(jobId: string, dice: Dice): Promise<void> {
    const letter = [...this.#world.db.deadLetters.values()].find((found) => found.jobId === jobId);
    if (letter === undefined) return;
    const wish = { what: 'redrive', jobId, fromDeathAt: letter.attempt } as const;
    await this.#startOver(wish, dice, ({ commands }) => commands.redrive(letter.id));
  }

  async #startOver(
    wish: Wish,
    dice: Dice,
    command: (intake: Intake) => Promise<RetryAnswer | RedriveAnswer>,
  ): Promise<void> {
    const { what, jobId } = wish;
    const { promises, situations, failovers, db } = this.#world;
    promises.askRetry(jobId);
    this.#world.tell('client', () => `asks to ${what} ${nameOf(jobId)}`);
    const before = this.#countReadied(wish);
    const stateBefore = db.jobs.get(jobId)?.state;
    const answer = await this.#ask(dice, command);
    if (answer === 'silence' || 'error' in answer) return situations.count(`${what} not answered`);
    promises.answerRetry(jobId);
    const { value } = answer;
    situations.count(`${what} ${value.kind}`);
    this.#world.tell('client', () => `asked to ${what} ${nameOf(jobId)} and is told: ${value.kind}`);
    if (value.kind === 'unknown') return this.#judgeUnknown(what, jobId, failovers);
    if (value.kind !== 'ready' || failovers !== this.#world.failovers) return;
    // Of a job that was cancelled meanwhile nobody can tell whether a write of unknown outcome came before that.
    const isCancelledSince = stateBefore !== 'CANCELLED' && value.job.state === 'CANCELLED';
    if (!isCancelledSince && this.#countReadied(wish) === before)
      this.#world.invariants.add('§11 ready', jobId, `is said to be ready after a ${what}, and nobody made it so`);
  }

  /** How often the job left an end or a wait; for a redrive, how often it left that death. */
  #countReadied({ jobId, fromDeathAt }: Wish): number {
    const readied = this.#world.invariants.readiedOf(jobId);
    if (fromDeathAt === null) return readied.length;
    return readied.filter(({ from, attempt }) => from === 'DEAD' && attempt === fromDeathAt).length;
  }

  /** Only what a failover has lost can be unknown. */
  #judgeUnknown(what: string, jobId: string, failovers: number): void {
    const { db, invariants } = this.#world;
    if (failovers === this.#world.failovers && db.jobs.has(jobId)) {
      invariants.add('§11 known', jobId, `is said not to exist after a ${what}`);
    }
  }

  /** A request to one of the apis over a network of its own, which loses answers now and then while there are faults. */
  #ask<T>(dice: Dice, act: (intake: Intake) => Promise<T>): Promise<Answer<T>> {
    const { kernel } = this.#world;
    const api = this.#world.apiFor(dice);
    return new Promise((resolve) => {
      kernel.after(PATIENCE_MS, () => resolve('silence'));
      const reply = (answer: Answer<T>): void => {
        if (!this.#world.isCalm && dice.chance(0.01)) return this.#world.situations.count('answer to a client lost');
        kernel.after(dice.integer(0, 3), () => resolve(answer));
      };
      if (!api.process.isAlive) return reply({ error: 'connection refused' });
      kernel.after(
        dice.integer(0, 3),
        () =>
          void act(api.intake).then(
            (value) => reply({ value }),
            (error: unknown) => reply(this.#judged(error)),
          ),
        api.process.inbox,
      );
    });
  }

  /** `faults.md` G7: whatever goes wrong, a client is told that it may try again. */
  #judged(error: unknown): Answer<never> {
    if (!isDeadmanError(error) || !error.retryable)
      this.#world.invariants.add('G7 problem', '', `a client was told: ${String(error)}`);
    return { error };
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#world.kernel.after(ms, resolve));
  }
}
