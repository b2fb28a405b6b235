import { OUTCOME } from '@deadman/domain';
import type { Handler, HandlerContext } from '@deadman/domain';
import type { Process } from './process.js';

/** What a simulated job does; its payload. */
export interface Script {
  readonly ms: number;
  /** Fails so many times, then succeeds. */
  readonly fails: number;
  readonly snoozes: number;
  /** Goes on although its signal was aborted. */
  readonly isDeaf: boolean;
  /** Kills its process each time. */
  readonly isPoison: boolean;
}

export const JOB_TYPE = 'simulated';

/** The one handler of the simulation. Where time passes, the process' clock says so. */
export function simulatedHandler(process: Process, onStart: (context: HandlerContext) => void): Handler {
  return {
    type: JOB_TYPE,
    parse: (payload) => ({ value: payload }),
    run: async (context) => {
      const script = context.payload as Script;
      onStart(context);
      if (script.isPoison) process.kill();
      await process.clock.sleep(script.ms, script.isDeaf ? undefined : context.signal);
      if (!script.isDeaf) context.signal.throwIfAborted();
      if (context.job.failures < script.fails) throw new Error('told to fail');
      if (context.job.attempt <= script.snoozes) return { [OUTCOME]: 'snooze', delayMs: 1_500 };
      return context.job.attempt;
    },
  };
}
