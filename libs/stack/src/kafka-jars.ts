import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sharedPlace, type ServerAccount } from '@deadman/embedded-postgres';
import { findJava } from './java.js';
import { findPrograms, runProgram } from './programs.js';
import type { Log } from './service.js';
import { StackError } from './stack-error.js';

const POM = fileURLToPath(new URL('../../../tools/kafka/pom.xml', import.meta.url));

const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/** 55 MB from a registry, and Maven's own plugins the first time. Milliseconds: a guess for a slow line. */
const FETCH_LIMIT_MS = 10 * 60_000;

/** Debian packages without which `account` cannot run a broker. Maven is not needed once the jars are here. */
export function kafkaPackages(account: ServerAccount | null): string[] {
  return [
    ...(findJava(account) ? [] : ['default-jre-headless']),
    ...((findKafkaJars(account) ?? findMaven()) ? [] : ['maven']),
  ];
}

/** The folder with the broker's jars, or null when they were not fetched yet. */
export function findKafkaJars(account: ServerAccount | null): string | null {
  const folder = jarFolder(account);
  return existsSync(folder) ? folder : null;
}

/** Fetches the jars into the folder that all clones of this user share. It appears whole, or not at all. */
export async function fetchKafkaJars(account: ServerAccount | null, log: Log): Promise<string> {
  const maven = findMaven();
  if (!maven) throw new StackError('Maven, which fetches the Kafka broker, is not installed.');
  const target = jarFolder(account);
  log(`Fetching the Kafka broker into ${target} (Maven, once for all clones, about half a minute).`);
  const partial = `${target}.${process.pid}`;
  mkdirSync(dirname(target), { recursive: true });
  const options = ['-q', '-B', '-f', POM, '-DincludeScope=runtime', `-DoutputDirectory=${partial}`];
  try {
    await runProgram(maven, [COPY_DEPENDENCIES, ...options], { limitMs: FETCH_LIMIT_MS });
    // A strict umask would shut out the account that the broker runs as.
    await runProgram('chmod', ['-R', 'a+rX', partial], { limitMs: FETCH_LIMIT_MS });
    takePlace(partial, target);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return target;
}

function takePlace(partial: string, target: string): void {
  try {
    renameSync(partial, target);
  } catch (error) {
    // Somebody else fetched the same jars meanwhile.
    if (!existsSync(target)) throw error;
  }
}

/** Named after the version to be read, and after all of the POM, so that a change of it is fetched anew. */
function jarFolder(account: ServerAccount | null): string {
  const pom = readFileSync(POM, 'utf8');
  const version = /<kafka\.version>(.+?)</.exec(pom)?.[1];
  const digest = createHash('sha256').update(pom).digest('hex').slice(0, 8);
  return join(cacheFolder(account), `kafka-${version}-${digest}`);
}

/** The account that a root's broker runs as cannot look into root's home. */
function cacheFolder(account: ServerAccount | null): string {
  if (account) return sharedPlace(account);
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'deadman');
}

function findMaven(): string | undefined {
  return findPrograms('mvn')[0];
}
