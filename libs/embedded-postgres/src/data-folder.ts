import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Binaries } from './binaries.js';
import { writePassword, type ClusterFolder } from './cluster-folder.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** Prefix of a data folder that is still being made. */
const UNFINISHED = 'pgdata.new-';

/**
 * Makes sure there is a data folder that these binaries can open.
 *
 * A new one is made beside its place and then renamed, so that a start killed half-way leaves nothing that looks
 * whole. With `durable` it has reached the disk before the rename.
 */
export function ensureDataFolder(folder: ClusterFolder, binaries: Binaries, durable: boolean): void {
  if (existsSync(folder.pgdata)) return assertSameMajor(folder, binaries);
  removeUnfinished(folder);
  const unfinished = join(folder.path, `${UNFINISHED}${process.pid}`);
  const password = randomBytes(24).toString('base64url');
  runInitdb(folder, binaries, { pgdata: unfinished, password, durable });
  writePassword(folder, password);
  renameSync(unfinished, folder.pgdata);
  if (durable) syncFolder(folder.path);
}

function assertSameMajor(folder: ClusterFolder, binaries: Binaries): void {
  const found = readFileSync(join(folder.pgdata, 'PG_VERSION'), 'utf8').trim();
  if (found === String(binaries.major)) return;
  throw new EmbeddedPostgresError(
    `The data in ${folder.pgdata} was made by PostgreSQL ${found}, and the embedded server is ${binaries.major}, ` +
      `which cannot open it. Dump and restore it with a PostgreSQL ${found} of your own, run one and set ` +
      'DATABASE_URL, or move the folder away to start afresh.',
  );
}

function runInitdb(
  folder: ClusterFolder,
  binaries: Binaries,
  wanted: { pgdata: string; password: string; durable: boolean },
): void {
  const passwordFile = join(folder.path, `${UNFINISHED}password`);
  try {
    mkdirSync(wanted.pgdata, { mode: 0o700 });
    writeFileSync(passwordFile, wanted.password, { mode: 0o600 });
    if (folder.account) {
      for (const path of [wanted.pgdata, passwordFile]) chownSync(path, folder.account.uid, folder.account.gid);
    }
    const result = spawnSync(binaries.initdb, initdbArguments(wanted.pgdata, passwordFile, wanted.durable), {
      ...folder.account,
      cwd: wanted.pgdata,
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
    });
    if (result.status === 0) return;
    const said = result.error?.message ?? `${result.stdout}\n${result.stderr}`;
    throw new EmbeddedPostgresError(
      `initdb could not make ${folder.pgdata}. It said:\n${said.trim()}\n` +
        'Help it, or set DATABASE_URL to a PostgreSQL server of your own.',
    );
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** The built-in locale sorts the same on every system, so that keyset pages do not depend on the C library. */
function initdbArguments(pgdata: string, passwordFile: string, durable: boolean): string[] {
  const cluster = [
    `--pgdata=${pgdata}`,
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--no-locale',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  return durable ? cluster : [...cluster, '--no-sync'];
}

function removeUnfinished(folder: ClusterFolder): void {
  for (const name of readdirSync(folder.path).filter((entry) => entry.startsWith(UNFINISHED))) {
    rmSync(join(folder.path, name), { recursive: true, force: true });
  }
}

function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
