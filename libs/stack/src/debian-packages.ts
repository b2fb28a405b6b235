import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { runProgram } from './programs.js';
import type { Log } from './service.js';
import { StackError } from './stack-error.js';

/** How long apt may take, waiting for another apt included. Milliseconds; downloads are some ten megabytes. */
const APT_LIMIT_MS = 10 * 60_000;
const APT_OPTIONS = ['-q', '-y', '-o', 'DPkg::Lock::Timeout=120'];
const INSTALL_OPTIONS = ['--no-install-recommends', '-o', 'Dpkg::Options::=--force-confold'];

/** Asked by Debian's install scripts before they start a service; 101 forbids it (invoke-rc.d, "POLICY-RC.D"). */
const POLICY_FILE = '/usr/sbin/policy-rc.d';
const POLICY_MARK = '# Written by "npm run stack" while it installs packages. Safe to remove.';

/** The system service that comes with a package, which shall neither start nor be started at boot. */
const SERVICE_OF: Readonly<Record<string, string>> = { 'redis-server': 'redis-server' };

/** Makes sure that packages are there: as root on Debian by installing them, otherwise by saying what to type. */
export async function installPackages(packages: readonly string[], log: Log): Promise<void> {
  if (packages.length === 0) return;
  if (!isDebian() || process.getuid?.() !== 0) throw new StackError(whatToType(packages, isDebian(), process.platform));
  log(`Installing ${packages.join(', ')} (apt-get, about half a minute).`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  await withoutStartingServices(async () => {
    await runProgram('apt-get', ['update', ...APT_OPTIONS], { limitMs: APT_LIMIT_MS, env });
    await runProgram('apt-get', ['install', ...APT_OPTIONS, ...INSTALL_OPTIONS, ...packages], {
      limitMs: APT_LIMIT_MS,
      env,
    });
  });
  for (const service of packages.flatMap((name) => SERVICE_OF[name] ?? [])) {
    await runProgram('update-rc.d', [service, 'disable'], { limitMs: APT_LIMIT_MS, env });
  }
}

/** The message for somebody for whom nothing can be installed. */
export function whatToType(packages: readonly string[], debian: boolean, platform: NodeJS.Platform): string {
  const list = packages.join(' ');
  return (
    `Not installed: ${packages.join(', ')}. ` +
    (debian
      ? `Type: sudo apt-get install --no-install-recommends ${list}`
      : platform === 'darwin'
        ? `Type: brew install ${packages.map((name) => BREW_NAME[name] ?? name).join(' ')}`
        : `Install what your system calls these (they are Debian's names): ${list}`) +
    '\nOr run the servers with Docker Compose (docker compose up -d postgres redis kafka), ' +
    'and set DATABASE_URL, REDIS_URL and KAFKA_BROKERS.'
  );
}

const BREW_NAME: Readonly<Record<string, string>> = { 'redis-server': 'redis', 'default-jre-headless': 'openjdk' };

function isDebian(): boolean {
  if (!existsSync('/etc/os-release')) return false;
  return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(readFileSync('/etc/os-release', 'utf8'));
}

/** A policy that was there before is somebody's wish, and stays; one of ours that a killed run left does not. */
async function withoutStartingServices(act: () => Promise<void>): Promise<void> {
  const theirs = existsSync(POLICY_FILE) && !readFileSync(POLICY_FILE, 'utf8').includes(POLICY_MARK);
  if (theirs) return act();
  writeFileSync(POLICY_FILE, `#!/bin/sh\n${POLICY_MARK}\nexit 101\n`, { mode: 0o755 });
  try {
    await act();
  } finally {
    rmSync(POLICY_FILE, { force: true });
  }
}
