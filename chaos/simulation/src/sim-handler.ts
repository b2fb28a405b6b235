import { OUTCOME } from '@deadman/domain';
import type { Handler, HandlerContext, StepContext } from '@deadman/domain';
import type { Dice } from './dice.js';
import type { Execution } from './executions.js';
import type { Process } from './process.js';

/** What a simulated job does; its payload. */
export interface Script {
  /** How long the handler takes. Milliseconds. */
  readonly ms: number;
  /** Fails so many times, then succeeds. */
  readonly fails: number;
  readonly snoozes: number;
  /** Goes on although its signal was aborted. */
  readonly isDeaf: boolean;
  /** Kills its process each time. */
  readonly isPoison: boolean;
  /** Asks to be cancelled, or to die, instead of succeeding. */
  readonly wish: 'success' | 'cancel' | 'dead';
  /** Changes the database once, and takes so long over it. Milliseconds; null for a job that does not. */
  readonly changeMs: number | null;
  /** Hands in another job with that change. */
  readonly hasChild: boolean;
  /** Does something outside that it remembers, and takes so long over it. Milliseconds; null for a job that does not. */
  readonly stepMs: number | null;
  /** The job that handed this one in. */
  readonly parent: string | null;
  /** Which of the bodies that are handed in under its key. */
  readonly body: number;
  /** How long after it was handed in it is due. Milliseconds. */
  readonly delayMs: number;
}

export const JOB_TYPE = 'simulated';
/** A type that not every worker knows. */
export const RARE_TYPE = 'rare';
/** The names of the one change and the one step that a job may have. */
export const CHANGE = 'change';
export const STEP = 'step';
/** Longer than the shortest there is. Milliseconds. */
export const SNOOZE_MS = 1_500;

export function scriptJob(dice: Dice, isPoison: boolean): Script {
  return {
    ms: dice.pick([0, 5, 50, 500, 2_000, 7_000, 14_000]),
    fails: dice.pick([0, 0, 0, 0, 1, 2, 5]),
    snoozes: dice.pick([0, 0, 0, 0, 0, 0, 1, 6]),
    isDeaf: dice.chance(0.1),
    isPoison,
    wish: dice.pick([...Array<'success'>(18).fill('success'), 'cancel', 'dead']),
    changeMs: dice.pick([null, null, 0, 100, 1_000]),
    hasChild: dice.chance(0.3),
    stepMs: dice.pick([null, null, null, 10, 1_000]),
    parent: null,
    body: 0,
    delayMs: dice.split('due').pick([0, 0, 0, 0, dice.split('delay').integer(1, 5_000)]),
  };
}

/** What a job hands in: one that does nothing but end. */
function scriptChild(parent: string): Script {
  const none = { ms: 0, fails: 0, snoozes: 0, isDeaf: false, isPoison: false, wish: 'success' } as const;
  return { ...none, changeMs: null, hasChild: false, stepMs: null, parent, body: 0, delayMs: 0 };
}

export function scriptOf({ payload }: { readonly payload: string }): Script {
  return JSON.parse(payload) as Script;
}

export interface RunListener {
  onStart(context: HandlerContext): Execution;
  /** The handler does something in the world outside that cannot be taken back, and was not told to stop. */
  onEffect(execution: Execution): void;
  /** The function of a change is called. What it asks for may not be committed. */
  onChange(execution: Execution): void;
  onStep(execution: Execution, step: StepContext): void;
  /** A change or a step has given this to its handler. */
  onValue(execution: Execution, what: string, value: unknown): void;
  onEnd(execution: Execution, hasReturned: boolean): void;
}

/** What all jobs of the simulation are handled by. Where time passes, the process' clock says so. */
export function simulatedHandler(type: string, process: Process, listener: RunListener): Handler {
  return {
    type,
    parse: (payload) => ({ value: payload }),
    run: async (context) => {
      const execution = listener.onStart(context);
      let hasReturned = false;
      try {
        const outcome = await new Performance(context, process, listener, execution).act();
        hasReturned = true;
        return outcome;
      } finally {
        listener.onEnd(execution, hasReturned);
      }
    },
  };
}

/** One call of the handler. */
class Performance {
  readonly #context: HandlerContext;
  readonly #script: Script;
  readonly #process: Process;
  readonly #listener: RunListener;
  readonly #execution: Execution;

  constructor(context: HandlerContext, process: Process, listener: RunListener, execution: Execution) {
    this.#context = context;
    this.#script = context.payload as Script;
    this.#process = process;
    this.#listener = listener;
    this.#execution = execution;
  }

  /** A success returns the number of its run, so that its row tells whose it is. */
  async act(): Promise<unknown> {
    const { ms, isDeaf, isPoison, fails, snoozes, wish } = this.#script;
    const { signal, job } = this.#context;
    if (isPoison) this.#process.kill();
    this.#context.progress({ begun: job.attempt });
    await this.#pass(ms / 2);
    await this.#change();
    await this.#step();
    await this.#pass(ms / 2);
    if (!isDeaf) signal.throwIfAborted();
    if (job.failures < fails) throw new Error('told to fail');
    if (job.attempt <= snoozes) return { [OUTCOME]: 'snooze', delayMs: SNOOZE_MS };
    if (wish === 'cancel') return { [OUTCOME]: 'cancel' };
    if (wish === 'dead') return { [OUTCOME]: 'dead', error: new Error('told to die') };
    if (!signal.aborted) this.#listener.onEffect(this.#execution);
    return this.#execution.id;
  }

  #pass(ms: number): Promise<void> {
    return this.#process.clock.sleep(ms, this.#script.isDeaf ? undefined : this.#context.signal);
  }

  async #change(): Promise<void> {
    const { changeMs, hasChild } = this.#script;
    if (changeMs === null) return;
    const value = await this.#context.transaction(CHANGE, async (transaction) => {
      this.#listener.onChange(this.#execution);
      await transaction.query('INSERT INTO ledger VALUES ($1)', [this.#execution.id]);
      await this.#pass(changeMs);
      if (hasChild) await transaction.submit({ type: JOB_TYPE, payload: scriptChild(this.#context.job.id) });
      return this.#execution.id;
    });
    this.#listener.onValue(this.#execution, CHANGE, value);
  }

  async #step(): Promise<void> {
    const { stepMs } = this.#script;
    if (stepMs === null) return;
    const value = await this.#context.step(STEP, async (step) => {
      this.#listener.onStep(this.#execution, step);
      await this.#pass(stepMs);
      return this.#execution.id;
    });
    this.#listener.onValue(this.#execution, STEP, value);
  }
}
