/** `npm start`: from a fresh clone to a running Deadman. Installs and builds what is missing, then runs all roles. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { NODE, ROOT, projectEnv } from './workspace.mjs';

/** A signal that comes twice within this time was sent once: by the terminal, and again by npm. Milliseconds. */
const SAME_SIGNAL_MS = 1_000;

try {
  await ensureInstalled();
  await ensureBuilt();
  runStandalone();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

/** In a process group of its own, so that each signal reaches it once, through us. */
function runStandalone() {
  const main = join(ROOT, 'apps', 'standalone', 'dist', 'main.js');
  const child = spawn(NODE, ['--enable-source-maps', main, ...process.argv.slice(2)], {
    cwd: ROOT,
    detached: true,
    env: projectEnv({ NODE_ENV: process.env.NODE_ENV ?? 'development' }),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) forward(signal, child);
  child.once('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function forward(signal, child) {
  let last = -Infinity;
  process.on(signal, () => {
    const now = performance.now();
    if (now - last > SAME_SIGNAL_MS) child.kill(signal);
    last = now;
  });
}
