import type { HandlerContext } from '@deadman/domain';
import { settle } from '@deadman/testing';
import { expect } from '@jest/globals';
import { aHandler, aSleeper, EngineUnderTest } from './engine-under-test.contract.js';
import type { EngineUnderTestOptions } from './engine-under-test.contract.js';
import type { CallFault } from './with-faults.contract.js';
import type { WorkerOptions } from './worker-options.js';
import type { Worker } from './worker.js';

/** The workers of a test, whose calls go wrong as it says. */
export class WorkersUnderTest {
  readonly engine: EngineUnderTest;
  /** What goes wrong with calls of a method, such as `store.claim`, first fault first. */
  faults: Partial<Record<string, CallFault[]>> = {};
  /** The jobs whose handlers were called, in order. */
  readonly started: string[] = [];
  readonly workers: Worker[] = [];

  constructor(options: Omit<EngineUnderTestOptions, 'faultOf'> = {}) {
    const faultOf = (port: string, method: string): CallFault | null =>
      this.faults[`${port}.${method}`]?.shift() ?? null;
    this.engine = new EngineUnderTest({ ...options, faultOf });
  }

  /** Starts a worker with one handler. */
  async start(run: (context: HandlerContext) => unknown, options: Partial<WorkerOptions> = {}): Promise<Worker> {
    const handler = aHandler((context) => {
      this.started.push(context.job.id);
      return run(context);
    });
    const worker = this.engine.workerOf([handler], options);
    this.workers.push(worker);
    await worker.start();
    await settle();
    return worker;
  }

  /** A handler that takes this long and honours its signal. */
  sleep(ms: number): (context: HandlerContext) => unknown {
    return aSleeper(this.engine.clock, ms).run;
  }

  lapses(): number {
    return [...this.engine.db.jobs.values()].reduce((sum, job) => sum + job.lapses, 0);
  }

  /** Drains all workers with everything in order again, and finds that they have left nothing behind. */
  async expectNothingToBeLeft(): Promise<void> {
    const { clock, db, transport } = this.engine;
    this.faults = {};
    const drained = Promise.all(this.workers.map((worker) => worker.drain()));
    await clock.advance(60_000);
    await drained;
    expect(db.workers.size).toBe(0);
    expect(db.running.size).toBe(0);
    await transport.close();
    expect(clock.pendingTimers).toBe(0);
  }
}

/** A handler that neither ends nor hears its signal. */
export function ignore(): Promise<never> {
  return new Promise(() => {});
}

/** The same fault, as often as any test calls. */
export function always(fault: CallFault): CallFault[] {
  return Array.from({ length: 10_000 }, () => fault);
}
