/** `npm run migrate -- [up | down | status]`: the schema of the database that DATABASE_URL names. */
import { join } from 'node:path';
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { untilTold } from './signals.mjs';
import { NODE, ROOT, run } from './workspace.mjs';

process.exitCode = await untilTold(async () => {
  await ensureInstalled();
  await ensureBuilt();
  return run(NODE, [join(ROOT, 'libs', 'store', 'dist', 'migrate.main.js'), ...process.argv.slice(2)]);
});
