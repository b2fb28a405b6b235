/** `npm run bench`: installs and builds what is missing, then measures. Arguments go to `bench/run.mjs`. */
import { join } from 'node:path';
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { ROOT, run } from './workspace.mjs';

await ensureInstalled();
await ensureBuilt();
process.exitCode = await run('node', [join(ROOT, 'bench', 'run.mjs'), ...process.argv.slice(2)]);
