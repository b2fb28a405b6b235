import { parentPort } from 'node:worker_threads';
import { runSafely } from './run-safely.js';
import { toOutcome } from './totals.js';
import type { Outcome } from './totals.js';

const port = parentPort;
if (port === null) throw new Error('This file is the entry of a thread');

// Nobody reads the traces of errors that are part of the play, and taking them costs a tenth of the time.
Error.stackTraceLimit = 0;

/** Runs the seeds it is given, and ends when there are none. */
port.on('message', (seeds: readonly number[]) => {
  if (seeds.length === 0) return port.close();
  void runAll(seeds).then((outcomes) => port.postMessage(outcomes));
});

async function runAll(seeds: readonly number[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const seed of seeds) outcomes.push(toOutcome(await runSafely(seed)));
  return outcomes;
}
