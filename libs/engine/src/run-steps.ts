import type { StepContext } from '@deadman/domain';
import { jsonText } from './json-text.js';
import { NamesInUse } from './names-in-use.js';
import { assertMayFire, claimOf, fencedOff, MAX_EFFECT_BYTES } from './effect-rules.js';
import type { EffectDeps } from './effect-rules.js';
import { idempotencyKey } from './run.js';
import type { Run } from './run.js';
import { whileRunning } from './while-running.js';

type Work = (step: StepContext) => unknown;

/** The steps of one run. */
export class RunSteps {
  readonly #run: Run;
  readonly #deps: EffectDeps;
  readonly #names = new NamesInUse('a step');
  /** Those whose work was called in this run. */
  readonly #tried = new Set<string>();

  constructor(run: Run, deps: EffectDeps) {
    this.#run = run;
    this.#deps = deps;
  }

  /** Does a piece of work and keeps what it came to, or finds what was kept. */
  async remember<Value>(name: unknown, work: unknown): Promise<Value> {
    if (typeof work !== 'function') throw new TypeError('A step needs a function that does its work');
    return this.#names.use(name, async (step) => JSON.parse(await this.#memoOf(step, work as Work)) as Value);
  }

  async #memoOf(name: string, work: Work): Promise<string> {
    const step = { ...claimOf(this.#run), name };
    const begun = await whileRunning(this.#run, () => this.#deps.store.beginStep(step), this.#deps);
    if (begun.kind === 'done') return begun.value;
    if (begun.kind === 'fenced') throw fencedOff(this.#run, 'step', this.#deps);
    const value = await this.#do(name, work, this.#isInDoubt(name, begun.before));
    const kept = await whileRunning(this.#run, () => this.#deps.store.finishStep(step, value), this.#deps);
    if (kept === 'fenced') throw fencedOff(this.#run, 'step', this.#deps);
    return value;
  }

  /** A begin of this very attempt whose reply was lost says nothing: its work was not called then. */
  #isInDoubt(name: string, before: number | null): boolean {
    return this.#tried.has(name) || (before !== null && before !== this.#run.lease.attempt);
  }

  async #do(name: string, work: Work, isInDoubt: boolean): Promise<string> {
    const { guard, events } = this.#deps;
    const { id, type, queue, attempt } = this.#run.job;
    await assertMayFire(this.#run, guard);
    if (isInDoubt) events.emit({ kind: 'step-in-doubt', step: name, jobId: id, type, queue, attempt });
    this.#tried.add(name);
    const context = { idempotencyKey: idempotencyKey(id, name), isInDoubt, signal: this.#run.signal };
    const returned = await work(context);
    return jsonText('The value of a step', returned === undefined ? null : returned, MAX_EFFECT_BYTES);
  }
}
