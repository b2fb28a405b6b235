/**
 * `npm run stack`: a real PostgreSQL, Redis and Kafka on this machine. All it does is in `libs/stack`; this makes sure
 * that there is something to run. It builds that lib and what it stands on, and nothing else, so that a fault in an
 * unrelated project does not keep the servers away.
 */
import { ensureStackBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { ROOT } from './workspace.mjs';

// Whoever reads may leave early, as `head` does; what was asked for is done all the same.
process.stdout.on('error', () => undefined);

try {
  await ensureInstalled();
  await ensureStackBuilt();
  const { runStackCommand } = await import('../libs/stack/dist/index.js');
  const print = (text) => process.stdout.write(text);
  process.exitCode = await runStackCommand({ args: process.argv.slice(2), env: process.env, root: ROOT, print });
} catch (error) {
  process.stderr.write(`${error.name === 'StackError' ? error.message : error.stack}\n`);
  process.exitCode = 1;
}
