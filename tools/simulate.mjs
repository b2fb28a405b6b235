/** `npm run simulate`: the protocol under seeded schedules of faults (`docs/verification.md`). Works on a fresh clone. */
import { join } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { NODE, ROOT, run } from './workspace.mjs';

await ensureInstalled();
const main = join(ROOT, 'tools', 'simulate', 'main.mjs');
process.exitCode = await run(NODE, ['--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)]);
