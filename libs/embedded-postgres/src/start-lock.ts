import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { isOfLiving, ownMark } from './process-mark.js';
import { waitUntil } from './wait-until.js';

/**
 * Runs `act` while no other process starts or stops the same server.
 *
 * The lock is a file that names its holder by process number and start, so that one left behind by a killed process
 * is recognised even after its number was given away again. Throws when another holds it for longer than `limitMs`.
 */
export async function withStartLock<T>(file: string, limitMs: number, act: () => Promise<T>): Promise<T> {
  if (!(await waitUntil(() => tryLock(file), limitMs))) {
    throw new EmbeddedPostgresError(
      `Another process (${readHolder(file)?.split(' ')[0] ?? 'unknown'}) has been starting or stopping this server ` +
        `for more than ${limitMs / 1000} s. If that is not so, remove ${file}.`,
    );
  }
  try {
    return await act();
  } finally {
    rmSync(file, { force: true });
  }
}

/** A lock that is held until it is released, or until its holder's process ends. */
export interface HeldLock {
  release(): void;
}

/** Takes a lock for long, and does not wait: null when a living process holds it. */
export function holdStartLock(file: string): HeldLock | null {
  // The second try is for a lock that the first one found left behind, and removed.
  return tryLock(file) || tryLock(file) ? { release: () => rmSync(file, { force: true }) } : null;
}

/** A link appears together with its content, so there is never a lock that does not name its holder. */
function tryLock(file: string): boolean {
  const own = `${file}.${randomUUID()}`;
  writeFileSync(own, ownMark());
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    removeIfLeftBehind(file);
    return false;
  } finally {
    rmSync(own);
  }
}

/** Moves the file away before it goes, so that of two who find the same dead holder only one removes a lock. */
function removeIfLeftBehind(file: string): void {
  const holder = readHolder(file);
  if (!holder || isOfLiving(holder)) return;
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  if (readHolder(aside) === holder) rmSync(aside, { force: true });
  else renameSync(aside, file);
}

function readHolder(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
