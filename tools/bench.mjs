/** `npm run bench`: installs and builds what is missing, then measures. Arguments go to `bench/run.mjs`. */
import { join } from 'node:path';
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { untilTold } from './signals.mjs';
import { ROOT, run } from './workspace.mjs';

process.exitCode = await untilTold(async () => {
  await ensureInstalled();
  await ensureBuilt();
  return run('node', [join(ROOT, 'bench', 'run.mjs'), ...process.argv.slice(2)]);
});
