/** `npm run simulate`: the protocol under seeded schedules of faults (`docs/verification.md`). Works on a fresh clone. */
import { join } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { untilTold } from './signals.mjs';
import { NODE, ROOT, run } from './workspace.mjs';

process.exitCode = await untilTold(async () => {
  await ensureInstalled();
  const main = join(ROOT, 'tools', 'simulate', 'main.mjs');
  return run(NODE, ['--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)]);
});
