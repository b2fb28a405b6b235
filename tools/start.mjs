/** `npm start`: from a fresh clone to a running Deadman. Installs and builds what is missing, then runs all roles. */
import { join } from 'node:path';
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { untilTold } from './signals.mjs';
import { NODE, ROOT, projectEnv, run } from './workspace.mjs';

try {
  process.exitCode = await untilTold(async () => {
    await ensureInstalled();
    await ensureBuilt();
    return runStandalone();
  });
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

function runStandalone() {
  const main = join(ROOT, 'apps', 'standalone', 'dist', 'main.js');
  const env = projectEnv({ NODE_ENV: process.env.NODE_ENV ?? 'development' });
  return run(NODE, ['--enable-source-maps', main, ...process.argv.slice(2)], { env });
}
