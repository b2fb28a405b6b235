import { existsSync, readFileSync, statSync } from 'node:fs';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** The user the server runs as. PostgreSQL refuses to run as root, so root has to lend it another one. */
export interface ServerAccount {
  uid: number;
  gid: number;
}

/** The numbers `nobody` has on nearly every system; used when the system does not list it. */
const USUAL_NOBODY: ServerAccount = { uid: 65534, gid: 65534 };

/**
 * Says which account the server of the data in `pgdata` has to run as, or null when it is simply ours.
 *
 * Root runs the server as the owner of existing data, and as `nobody` otherwise; no account is ever created.
 */
export function accountFor(pgdata: string): ServerAccount | null {
  const owner = existsSync(pgdata) ? statSync(pgdata) : null;
  if (process.getuid?.() === 0) return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : nobody();
  if (owner && owner.uid !== process.getuid?.()) {
    throw new EmbeddedPostgresError(
      `The data in ${pgdata} belongs to user id ${owner.uid}, who is not you. ` +
        'Start as that user or as root, move the folder away, or set DATABASE_URL to a server of your own.',
    );
  }
  return null;
}

function nobody(): ServerAccount {
  if (!existsSync('/etc/passwd')) return USUAL_NOBODY;
  const entry = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.startsWith('nobody:'));
  const [, , uid, gid] = entry?.split(':') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : USUAL_NOBODY;
}
