/** `npm run migrate -- [up | down | status]`: the schema of the database that DATABASE_URL names. */
import { join } from 'node:path';
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { NODE, ROOT, run } from './workspace.mjs';

await ensureInstalled();
await ensureBuilt();
process.exitCode = await run(NODE, [join(ROOT, 'libs', 'store', 'dist', 'migrate.main.js'), ...process.argv.slice(2)]);
