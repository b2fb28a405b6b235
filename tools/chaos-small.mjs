/** What CI runs of the chaos, in some minutes: a storm of 2,000 jobs, some scenarios, and every mutant. Fails when one does. */
import { join } from 'node:path';
import { NODE, ROOT, run } from './workspace.mjs';

/** Small, with the shortest TTL there is; what waits for nothing but time is left to a full run. */
const SMALL = ['--time-scale', '0.05', '--slots', '16', '--ttl', '2'];

const SCENARIOS = ['worker-killed-mid-execution', 'cancel-against-complete', 'idempotency-storm', 'same-message-twice'];

const RUNS = [
  ['--jobs', '2000', '--workers', '4', '--slots', '64', '--ttl', '5'],
  ['--scenario', SCENARIOS.join(), ...SMALL],
  ['--mutants', 'all'],
];

let failed = 0;
for (const args of RUNS) {
  const begun = performance.now();
  const code = await run(NODE, [join(ROOT, 'tools', 'chaos.mjs'), ...args]);
  if (code !== 0) failed += 1;
  const seconds = Math.round((performance.now() - begun) / 1000);
  process.stdout.write(`chaos ${args.join(' ')}: ${code === 0 ? 'ok' : 'FAILED'} (${seconds} s)\n`);
}
process.exitCode = failed === 0 ? 0 : 1;
