import { OUTCOME } from '@deadman/domain';
import type { Handler, HandlerContext } from '@deadman/domain';
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
}

export const JOB_TYPE = 'simulated';
/** A type that not every worker knows. */
export const RARE_TYPE = 'rare';

export function scriptJob(dice: Dice, isPoison: boolean): Script {
  return {
    ms: dice.pick([0, 5, 50, 500, 2_000, 7_000, 14_000]),
    fails: dice.pick([0, 0, 0, 0, 1, 2, 5]),
    snoozes: dice.pick([0, 0, 0, 0, 1]),
    isDeaf: dice.chance(0.1),
    isPoison,
    wish: dice.pick([...Array<'success'>(18).fill('success'), 'cancel', 'dead']),
  };
}

export function isPoison(payload: string): boolean {
  return (JSON.parse(payload) as Script).isPoison;
}

export interface RunListener {
  onStart(context: HandlerContext): Execution;
  /** The handler does something in the world outside that cannot be taken back. */
  onEffect(execution: Execution): void;
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
        const outcome = await act(context, process, () => listener.onEffect(execution));
        hasReturned = true;
        return outcome === 'success' ? execution.id : outcome;
      } finally {
        listener.onEnd(execution, hasReturned);
      }
    },
  };
}

async function act(context: HandlerContext, process: Process, fire: () => void): Promise<unknown> {
  const script = context.payload as Script;
  const { signal, job } = context;
  if (script.isPoison) process.kill();
  context.progress({ begun: job.attempt });
  await process.clock.sleep(script.ms, script.isDeaf ? undefined : signal);
  if (!script.isDeaf) signal.throwIfAborted();
  if (job.failures < script.fails) throw new Error('told to fail');
  if (job.attempt <= script.snoozes) return { [OUTCOME]: 'snooze', delayMs: 1_500 };
  if (script.wish === 'cancel') return { [OUTCOME]: 'cancel' };
  if (script.wish === 'dead') return { [OUTCOME]: 'dead', error: new Error('told to die') };
  if (!signal.aborted) fire();
  return 'success';
}
