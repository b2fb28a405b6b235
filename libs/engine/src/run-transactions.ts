import type { EffectTransaction, OpenTransaction } from '@deadman/domain';
import { jsonText } from './json-text.js';
import { NamesInUse } from './names-in-use.js';
import { toSubmission } from './new-job.js';
import { assertMayFire, claimOf, fencedOff, MAX_EFFECT_BYTES } from './effect-rules.js';
import type { EffectDeps } from './effect-rules.js';
import type { Run } from './run.js';
import { whileRunning } from './while-running.js';

/** How often a change that left its transaction waiting for too long is tried, since a worker that stood still can look like one. */
const IDLE_TRIES = 3;

type Change = (transaction: EffectTransaction) => unknown;

/** Marks what a change threw, so that it is never taken for trouble of the store and tried again. */
class ThrownByChange extends Error {
  readonly thrown: unknown;

  constructor(thrown: unknown) {
    super('A change was given up by its handler');
    this.thrown = thrown;
  }
}

/** The effects of one run. */
export class RunTransactions {
  readonly #run: Run;
  readonly #deps: EffectDeps;
  readonly #names = new NamesInUse('a transaction');
  readonly #seen = new Set<string>();

  constructor(run: Run, deps: EffectDeps) {
    this.#run = run;
    this.#deps = deps;
  }

  /** The keys of the effects that are committed. */
  get seen(): readonly string[] {
    return [...this.#seen];
  }

  /** Makes a change, or finds that it was made. Returns the value that the effect's row holds. */
  async transact<Value>(key: unknown, change: unknown): Promise<Value> {
    if (typeof change !== 'function') throw new TypeError('A transaction needs a function that makes the change');
    return this.#names.use(key, async (name) => {
      const value = await this.#untilCommitted(name, change as Change);
      this.#seen.add(name);
      return JSON.parse(value) as Value;
    });
  }

  /** Each try begins with a look at the row, so that one whose outcome is unknown is cleared up by the next. */
  async #untilCommitted(key: string, change: Change): Promise<string> {
    try {
      return await whileRunning(this.#run, () => this.#once(key, change, IDLE_TRIES), this.#deps);
    } catch (error) {
      throw error instanceof ThrownByChange ? error.thrown : error;
    }
  }

  async #once(key: string, change: Change, idleTries: number): Promise<string> {
    const { store, publisher } = this.#deps;
    const known = await store.findEffect(this.#run.lease.jobId, key);
    if (known !== null) return known.value;
    let value = '';
    const receipt = await store.commitEffect({ ...claimOf(this.#run), key }, async (open) => {
      value = await this.#make(change, open);
      return value;
    });
    switch (receipt.kind) {
      case 'committed':
        void publisher.send(receipt.outbox);
        return value;
      case 'exists':
        return this.#once(key, change, idleTries);
      case 'idle':
        if (idleTries <= 1) throw transactionIdle(key);
        return this.#once(key, change, idleTries - 1);
      case 'fenced':
        throw fencedOff(this.#run, 'effect', this.#deps);
    }
  }

  /** The change may do more than its statements, so it is asked right before whether the run still may. */
  async #make(change: Change, open: OpenTransaction): Promise<string> {
    try {
      await assertMayFire(this.#run, this.#deps.guard);
      const returned = await change(this.#handOut(open));
      return jsonText('The value of a transaction', returned === undefined ? null : returned, MAX_EFFECT_BYTES);
    } catch (error) {
      throw new ThrownByChange(error);
    }
  }

  #handOut(open: OpenTransaction): EffectTransaction {
    return {
      query: (statement, values) => open.query(statement, values),
      submit: async (job) => {
        const id = this.#deps.ids.timeOrdered();
        await open.submit([toSubmission(job, id, this.#run.job)]);
        return { id };
      },
    };
  }
}

function transactionIdle(key: string): Error {
  const message = `The transaction "${key}" was left without a statement for too long, and the database broke it off`;
  return Object.assign(new Error(message), { code: 'transaction-idle' });
}
