/** `npm run chaos`: real processes, real faults, named checks (`docs/guides/chaos.md`). Works on a fresh clone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { NODE, ROOT, projectEnv } from './workspace.mjs';

await ensureInstalled();
await ensureBuilt();
const main = join(ROOT, 'chaos', 'harness', 'dist', 'main.js');
const child = spawn(NODE, [main, ...process.argv.slice(2)], { cwd: ROOT, env: projectEnv(), stdio: 'inherit' });
// It ends what it has started, and this waits for it. A Ctrl-C reaches it by itself.
process.on('SIGINT', () => undefined);
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
const [code] = await once(child, 'close');
process.exitCode = code ?? 1;
