import { join } from 'node:path';
import type { ServerAccount } from '@deadman/embedded-postgres';
import { findPrograms, versionOf } from './programs.js';

/** What Kafka 4 needs. */
const OLDEST_JAVA = 17;

/** The first Java that `account` can run and that is new enough. */
export function findJava(account: ServerAccount | null): string | undefined {
  const home = process.env['JAVA_HOME'];
  const candidates = [...(home ? [join(home, 'bin', 'java')] : []), ...findPrograms('java')];
  return candidates.find((java) => majorVersion(versionOf(java, ['-version'], account)) >= OLDEST_JAVA);
}

function majorVersion(said: string | null): number {
  return Number(/version "(\d+)/.exec(said ?? '')?.[1] ?? 0);
}
