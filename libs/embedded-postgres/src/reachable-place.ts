import { chmodSync, mkdirSync, mkdtempSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import type { ServerAccount } from './server-account.js';

/**
 * Where things go that the server's account cannot reach where they are: a clone under `/root` or in a `mktemp -d`
 * folder is closed to everyone but its owner. The first that can be had is taken.
 */
const SHARED_PLACES = ['/var/lib/deadman', '/var/tmp/deadman'];

const OTHERS_MAY_WALK = 0o001;
const OTHERS_MAY_WRITE = 0o022;

/** Whether `account` can walk into `folder`: every folder on the way has to let it through. */
export function canWalkTo(folder: string, account: ServerAccount): boolean {
  let here = realpathSync(folder);
  for (;;) {
    if (!canPass(here, account)) return false;
    if (here === dirname(here)) return true;
    here = dirname(here);
  }
}

function canPass(folder: string, account: ServerAccount): boolean {
  const { mode, uid, gid } = statSync(folder);
  if (uid === account.uid) return (mode & (OTHERS_MAY_WALK << 6)) !== 0;
  if (gid === account.gid) return (mode & (OTHERS_MAY_WALK << 3)) !== 0;
  return (mode & OTHERS_MAY_WALK) !== 0;
}

/** The folder shared by all clones of this machine, created on first use. Only root ever needs it. */
export function sharedPlace(account: ServerAccount): string {
  const place = SHARED_PLACES.find((candidate) => canUse(candidate, account));
  if (place) return place;
  throw new EmbeddedPostgresError(
    `User id ${account.uid}, whom the server runs as because PostgreSQL refuses root, can reach none of ` +
      `${SHARED_PLACES.join(', ')}. Make one of them a folder of root's that all may enter, ` +
      'start as an ordinary user, or set DATABASE_URL to a server of your own.',
  );
}

/** A new folder of its own in the shared place. Nothing is ever found there that was not pointed to. */
export function newFolderInSharedPlace(label: string, account: ServerAccount): string {
  const folder = mkdtempSync(join(sharedPlace(account), `${label}-`));
  chmodSync(folder, 0o711);
  return folder;
}

/** In a folder that others may write to, somebody could have put binaries for us to run. */
function canUse(place: string, account: ServerAccount): boolean {
  try {
    if (mkdirSync(place, { recursive: true })) chmodSync(place, 0o755);
    const { uid, mode } = statSync(place);
    return uid === process.getuid?.() && (mode & OTHERS_MAY_WRITE) === 0 && canWalkTo(place, account);
  } catch {
    return false;
  }
}
