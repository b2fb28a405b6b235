import type { RunStep, RunTransaction } from '@deadman/domain';
import { runIsOver } from './effect-rules.js';
import type { EffectDeps } from './effect-rules.js';
import { RunSteps } from './run-steps.js';
import { RunTransactions } from './run-transactions.js';
import type { Run } from './run.js';
import { UnderWay } from './under-way.js';

/** The key of a transaction whose handler has only one. */
const ONLY_KEY = 'default';

/** What a run does effectively once, and what it remembers (`protocol.md` §7). */
export interface RunEffects {
  readonly transaction: RunTransaction;
  readonly step: RunStep;
  /** Begins nothing more, waits for what is under way, and returns the keys of the effects that the run saw committed. */
  end(): Promise<readonly string[]>;
}

export function makeRunEffects(run: Run, deps: EffectDeps): RunEffects {
  const transactions = new RunTransactions(run, deps);
  const steps = new RunSteps(run, deps);
  const underWay = new UnderWay();
  let isOver = false;
  const during = <Value>(act: () => Promise<Value>): Promise<Value> =>
    isOver ? Promise.reject(runIsOver()) : underWay.track(act());
  return {
    transaction: <Value>(...given: readonly unknown[]) => {
      const [key, change] = given.length === 1 ? [ONLY_KEY, given[0]] : given;
      return during(() => transactions.transact<Value>(key, change));
    },
    step: (name, work) => during(() => steps.remember(name, work)),
    end: async () => {
      isOver = true;
      await underWay.settled();
      return transactions.seen;
    },
  };
}

/** Those of a worker that was given nothing to keep effects in. */
export const NO_EFFECTS: RunEffects = {
  transaction: () => Promise.reject(new TypeError('This worker keeps no effects: it has no EffectStore')),
  step: () => Promise.reject(new TypeError('This worker keeps no steps: it has no EffectStore')),
  end: async () => [],
};
