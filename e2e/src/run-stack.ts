import { Stack } from '@deadman/stack';
import { join } from 'node:path';

/** Where the run's servers are; without a run, they are left running for the next time. */
const DATA_DIR =
  process.env['DEADMAN_TEST_STACK_DIR'] ?? join(import.meta.dirname, '..', '..', '.deadman', 'test', 'e2e');

/** The real servers of the run. Suites share them, so each has a database and topics of its own and ends none of them. */
export function sharedStack(): Stack {
  return new Stack({ dataDir: DATA_DIR });
}

/** Servers for a suite that ends them. It wipes them when it is done; if it cannot, the end of the run does. */
export function ownStack(suite: string): Stack {
  return new Stack({ dataDir: join(DATA_DIR, 'suites', suite) });
}
