/**
 * Writes the configuration reference and `.env.example` from the schemas that the services parse their environment with.
 * `--check` only compares, and ends with 1 when a page is not what the code says.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { ROOT } from './workspace.mjs';

await ensureInstalled();
await ensureBuilt();
const { renderConfigReference, renderEnvExample } = await import(join(ROOT, 'libs', 'config', 'dist', 'index.js'));
const services = await readServices();
const pages = {
  'docs/reference/configuration.md': renderConfigReference(services),
  '.env.example': renderEnvExample(services),
};
process.exitCode = process.argv.includes('--check') ? check() : write();

/** Every app with a `config.ts` exports one definition from it. */
async function readServices() {
  const found = {};
  for (const app of readdirSync(join(ROOT, 'apps')).toSorted()) {
    const file = join(ROOT, 'apps', app, 'dist', 'config.js');
    if (existsSync(file)) found[app] = Object.values(await import(file))[0];
  }
  return found;
}

function write() {
  for (const [path, text] of Object.entries(pages)) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
  }
  return 0;
}

function check() {
  const stale = Object.entries(pages).filter(([path, text]) => readPage(path) !== text);
  for (const [path] of stale) process.stdout.write(`${path} is not what the code says: run npm run reference\n`);
  return stale.length === 0 ? 0 : 1;
}

function readPage(path) {
  return existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : '';
}
