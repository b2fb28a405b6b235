/**
 * Packs `@deadman/sdk` into a tarball that needs nothing of this repository: `node tools/pack-sdk.mjs [folder]`, default
 * `.deadman/packages`. Prints the tarball's path.
 *
 * The SDK stands on `@deadman/domain`, which is not published, so it goes along as a bundled dependency. Conditions that
 * lead to sources, build notes and source maps stay behind.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { ROOT, writtenFiles } from './workspace.mjs';

const BUNDLED = '@deadman/domain';

/** @returns {Promise<string>} the path of the tarball, absolute */
export async function packSdk(folder) {
  for (const project of ['libs/domain', 'libs/sdk']) {
    if ((await build(project)) !== 0) throw new Error(`${project} does not compile.`);
  }
  const stage = mkdtempSync(join(tmpdir(), 'deadman-sdk-'));
  try {
    const manifest = stagePackage('libs/sdk', stage, { bundleDependencies: [BUNDLED] });
    stagePackage('libs/domain', join(stage, 'node_modules', BUNDLED), {});
    for (const file of ['libs/sdk/README.md', 'LICENSE']) copyFileSync(join(ROOT, file), join(stage, basename(file)));
    return npmPack(stage, folder, manifest);
  } finally {
    rmSync(stage, { recursive: true });
  }
}

/** The package as its readers get it: what it exports, compiled, and the types. */
function stagePackage(project, target, extra) {
  const manifest = { ...readManifest(project), ...extra };
  for (const member of ['nx', 'devDependencies', 'private']) delete manifest[member];
  delete manifest.exports['.']['@deadman/source'];
  const dist = join(ROOT, project, 'dist');
  for (const file of writtenFiles(dist).filter((path) => /\.(js|d\.ts)$/.test(path))) {
    const copy = join(target, 'dist', relative(dist, file));
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, readFileSync(file, 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, ''));
  }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

function npmPack(stage, folder, { name, version }) {
  mkdirSync(folder, { recursive: true });
  const done = spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: stage,
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(`npm pack failed: ${done.stderr || done.error}`);
  return join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
}

function readManifest(project) {
  return JSON.parse(readFileSync(join(ROOT, project, 'package.json'), 'utf8'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = resolve(process.argv[2] ?? join(ROOT, '.deadman', 'packages'));
  process.stdout.write(`${await packSdk(folder)}\n`);
}
