import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { sharedPlace } from './reachable-place.js';
import type { ServerAccount } from './server-account.js';

/** Programs that `account` can run. */
export interface Binaries {
  initdb: string;
  postgres: string;
  /** The major version, for example 18: data of one major version cannot be opened by another. */
  major: number;
}

const SUPPORTED = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'darwin-x64'];

const WAY_OUT = 'Set DATABASE_URL to a PostgreSQL server (15 or later) of your own instead.';

/**
 * Finds the programs of the installed platform package, and copies them to the shared place, once per version, when
 * `account` cannot run them where they are.
 */
export async function locateBinaries(account: ServerAccount | null, log: (line: string) => void): Promise<Binaries> {
  const native = await packagedFolder();
  const here = tryBinaries(native, account);
  if (here.binaries) return here.binaries;
  if (!account) throw cannotRun(native, here.reason);

  const copy = copyToSharedPlace(native, account, log);
  const there = tryBinaries(copy, account);
  if (there.binaries) return there.binaries;
  throw cannotRun(copy, there.reason);
}

async function packagedFolder(): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  if (!SUPPORTED.includes(platform)) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform}, only for ${SUPPORTED.join(', ')}. ${WAY_OUT}`,
    );
  }
  const name = `@embedded-postgres/${platform}`;
  try {
    const paths = (await import(name)) as { postgres: string };
    return dirname(dirname(paths.postgres));
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The package ${name} is not installed: run npm install with optional packages. ${WAY_OUT}`,
      { cause },
    );
  }
}

/** Asking for the version proves all at once: reachable, executable, and every shared library found. */
function tryBinaries(folder: string, account: ServerAccount | null): { binaries?: Binaries; reason: string } {
  const postgres = join(folder, 'bin', 'postgres');
  const asked = spawnSync(postgres, ['--version'], { ...account, cwd: '/', encoding: 'utf8' });
  const major = /\(PostgreSQL\) (\d+)/.exec(asked.stdout ?? '')?.[1];
  if (!major) return { reason: asked.error?.message ?? asked.stderr };
  return { binaries: { initdb: join(folder, 'bin', 'initdb'), postgres, major: Number(major) }, reason: '' };
}

function copyToSharedPlace(native: string, account: ServerAccount, log: (line: string) => void): string {
  const target = join(sharedPlace(account), `postgres-${packageVersion(native)}-${process.platform}-${process.arch}`);
  if (existsSync(target)) return target;
  log(`User id ${account.uid} cannot run PostgreSQL in ${native}: copying it to ${target}.`);
  const partial = `${target}.${process.pid}`;
  rmSync(partial, { recursive: true, force: true });
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
  openToAll(partial);
  try {
    renameSync(partial, target);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

function packageVersion(native: string): string {
  const manifest = JSON.parse(readFileSync(join(dirname(native), 'package.json'), 'utf8')) as { version: string };
  return manifest.version;
}

/** A strict umask at install time would otherwise be copied along. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}

function cannotRun(folder: string, reason: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL in ${folder} does not run here: ${reason.trim()}. ` +
      `If packages were installed without their install scripts, run npm rebuild. ${WAY_OUT}`,
  );
}
