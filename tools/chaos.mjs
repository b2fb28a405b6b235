/** `npm run chaos`: real processes, real faults, named checks (`docs/guides/chaos.md`). Works on a fresh clone. */
import { join } from 'node:path';
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { untilTold } from './signals.mjs';
import { NODE, ROOT, run } from './workspace.mjs';

process.exitCode = await untilTold(async () => {
  await ensureInstalled();
  await ensureBuilt();
  return run(NODE, [join(ROOT, 'chaos', 'harness', 'dist', 'main.js'), ...process.argv.slice(2)]);
});
