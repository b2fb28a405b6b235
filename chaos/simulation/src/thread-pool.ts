import { Worker } from 'node:worker_threads';
import type { Outcome } from './totals.js';

/** Seeds handed to a thread at once: few enough that threads end together, and that progress shows. */
const CHUNK = 5;

export interface PoolSpec {
  readonly threads: number;
  /** The next seed, or null when there is no more to do. */
  readonly nextSeed: () => number | null;
  readonly onOutcome: (outcome: Outcome) => void;
}

/** Runs seeds on several threads. Rejects when a thread dies, which no schedule can make it do. */
export async function runOnThreads({ threads, nextSeed, onOutcome }: PoolSpec): Promise<void> {
  const chunk = (): number[] => {
    const seeds: number[] = [];
    for (let seed = nextSeed(); seed !== null; seed = seeds.length < CHUNK ? nextSeed() : null) seeds.push(seed);
    return seeds;
  };
  await Promise.all(Array.from({ length: threads }, () => runThread(chunk, onOutcome)));
}

function runThread(chunk: () => number[], onOutcome: (outcome: Outcome) => void): Promise<void> {
  const first = chunk();
  if (first.length === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./thread.js', import.meta.url));
    worker.once('error', reject);
    worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`A thread ended with ${code}`))));
    worker.on('message', (outcomes: readonly Outcome[]) => {
      for (const outcome of outcomes) onOutcome(outcome);
      worker.postMessage(chunk());
    });
    worker.postMessage(first);
  });
}
