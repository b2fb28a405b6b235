/** `npm run chaos`: real processes, real faults, named checks (`docs/guides/chaos.md`). Works on a fresh clone. */
import { join } from 'node:path';
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { NODE, ROOT, run } from './workspace.mjs';

await ensureInstalled();
await ensureBuilt();
// A Ctrl-C reaches the whole group: the run ends what it has started, and this waits for it.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
process.exitCode = await run(NODE, [join(ROOT, 'chaos', 'harness', 'dist', 'main.js'), ...process.argv.slice(2)]);
