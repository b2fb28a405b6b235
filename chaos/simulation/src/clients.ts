import { admit, NOW } from '@deadman/domain';
import type { JobSpec, Submission } from '@deadman/domain';
import { SequenceIds } from '@deadman/testing';
import type { SeededRandom } from '@deadman/testing';
import { JOB_TYPE } from './sim-handler.js';
import type { Script } from './sim-handler.js';
import type { World } from './world.js';

/** How long a client waits for an answer before it thinks it has none. Milliseconds. */
const PATIENCE_MS = 4_000;
const MOST_TRIES = 6;

/** People and programs outside: they submit, repeat what was not answered, cancel and retry, and remember what they were told. */
export class Clients {
  readonly #world: World;
  readonly #dice: SeededRandom;
  readonly #ids = new SequenceIds(null, 0xffff);
  #open = 0;

  constructor(world: World) {
    this.#world = world;
    this.#dice = world.driverDice();
  }

  /** Requests that may still be repeated. */
  get isDone(): boolean {
    return this.#open === 0;
  }

  begin(): void {
    const { plan, kernel } = this.#world;
    const hasPoison = this.#dice.next() < 0.03;
    for (let number = 0; number < plan.jobs; number += 1) {
      this.#open += 1;
      kernel.after(this.#dice.integer(0, plan.untilMs * 0.8), () => this.#submit(number, hasPoison && number === 0));
    }
  }

  #submit(number: number, isPoison: boolean): void {
    const key = this.#dice.next() < 0.7 ? `key-${number}` : null;
    const script: Script = {
      ms: this.#dice.pick([0, 5, 50, 500, 2_000, 7_000]),
      fails: this.#dice.pick([0, 0, 0, 0, 1, 2, 5]),
      snoozes: this.#dice.pick([0, 0, 0, 0, 1]),
      isDeaf: this.#dice.next() < 0.1,
      isPoison,
    };
    const spec: Omit<JobSpec, 'id'> = {
      type: JOB_TYPE,
      queue: 'default',
      payload: JSON.stringify(script),
      maxAttempts: 4,
      retry: { kind: 'exponential', baseMs: 300, factor: 2, maxMs: 3_000, jitter: 'full' },
      timeoutMs: this.#dice.pick([3_000, 20_000]),
      tags: [],
      idempotencyKey: key,
      traceparent: null,
    };
    this.#try(spec, 1);
  }

  /** Each try is a new request with a new id; only the key makes them one. */
  #try(spec: Omit<JobSpec, 'id'>, tries: number): void {
    const id = this.#ids.timeOrdered();
    const due = this.#dice.next() < 0.2 ? ({ kind: 'after', delayMs: this.#dice.integer(1, 5_000) } as const) : NOW;
    const submission: Submission = {
      job: { id, ...spec },
      transition: admit(id, due),
      fingerprint: spec.idempotencyKey === null ? null : { type: 'same' },
    };
    let isAnswered = false;
    const repeat = (): void => {
      if (isAnswered) return;
      isAnswered = true;
      const mayRepeat = spec.idempotencyKey !== null && tries < MOST_TRIES;
      if (mayRepeat) this.#world.kernel.after(this.#dice.integer(50, 1_000), () => this.#try(spec, tries + 1));
      else this.#open -= 1;
    };
    this.#world.kernel.after(PATIENCE_MS, repeat);
    this.#world.intake?.submitter.submit(submission).then(({ job }) => {
      if (isAnswered) return;
      isAnswered = true;
      this.#open -= 1;
      this.#world.promises.accepted.add(job.id);
      this.#world.tell('client', `is told that ${job.id.slice(-6)} is stored`);
      this.#meddle(job.id);
    }, repeat);
  }

  #meddle(jobId: string): void {
    const { kernel } = this.#world;
    if (this.#dice.next() < 0.15) kernel.after(this.#dice.integer(0, 8_000), () => this.#cancel(jobId));
    if (this.#dice.next() < 0.1) kernel.after(this.#dice.integer(0, 20_000), () => this.#retry(jobId));
  }

  #cancel(jobId: string): void {
    this.#world.intake?.commands.cancel(jobId).then(
      (answer) => {
        this.#world.situations.count(`cancel ${answer.kind}`);
        if (answer.kind === 'cancelled' || answer.kind === 'asked') {
          this.#world.tell('client', `cancel of ${jobId.slice(-6)}: ${answer.kind}`);
          if (!this.#world.promises.wasRetried(jobId)) {
            this.#world.promises.cancels.set(jobId, { answer: answer.kind, attempt: answer.job.attempt });
          }
        }
      },
      () => this.#world.situations.count('cancel failed'),
    );
  }

  #retry(jobId: string): void {
    if (this.#world.intake === null) return;
    this.#world.promises.allowRetry(jobId);
    this.#world.tell('client', `retries ${jobId.slice(-6)}`);
    this.#world.intake.commands.retry(jobId).then(
      (answer) => this.#world.situations.count(`retry ${answer.kind}`),
      () => this.#world.situations.count('retry failed'),
    );
  }
}
