/**
 * `npm run services`: the four services as processes on this machine, on the servers of `npm run stack`. All it does is in
 * `libs/services`; this makes sure that there is something to run.
 */
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { ROOT } from './workspace.mjs';

try {
  await ensureInstalled();
  await ensureBuilt();
  const { runServicesCommand } = await import('../libs/services/dist/index.js');
  const print = (text) => process.stdout.write(text);
  process.exitCode = await runServicesCommand({ args: process.argv.slice(2), env: process.env, root: ROOT, print });
} catch (error) {
  const isForPeople = error.name === 'StackError' || error.name === 'ServiceError';
  process.stderr.write(`${isForPeople ? error.message : error.stack}\n`);
  process.exitCode = 1;
}
