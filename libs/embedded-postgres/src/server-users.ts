import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterFolder } from './cluster-folder.js';
import { isOfLiving, ownMark } from './process-mark.js';

/** Between the process's mark and what tells apart the users within one process. */
const SEPARATOR = '#';

/**
 * One of those who use a folder's server, which has to go on for as long as there is one.
 *
 * Each is a file in `users` whose name says which process it is, so that a user who was killed counts no longer. It has
 * no content, and therefore is never seen half-written. Whoever leaves takes its own file away first and looks for others
 * then: of two who leave together, at least one finds itself the last.
 */
export class ServerUser {
  private readonly users: string;
  private readonly name = ownMark() + SEPARATOR + randomUUID();

  /** Joins the users. The caller holds the start lock, so that nobody ends the server in between. */
  constructor(folder: ClusterFolder) {
    this.users = join(folder.path, 'users');
    mkdirSync(this.users, { recursive: true });
    writeFileSync(join(this.users, this.name), '');
  }

  /** Safe to repeat, and when the folder is gone. */
  leave(): void {
    rmSync(join(this.users, this.name), { force: true });
  }

  /** Whether somebody else uses the server, in this process or another. Sweeps away those who were killed. */
  hasCompany(): boolean {
    if (!existsSync(this.users)) return false;
    const others = readdirSync(this.users).filter((name) => name !== this.name);
    const alive = new Set(others.filter(isInUse));
    for (const name of others) if (!alive.has(name)) rmSync(join(this.users, name), { force: true });
    return alive.size > 0;
  }
}

function isInUse(name: string): boolean {
  return isOfLiving(name.split(SEPARATOR)[0] ?? '');
}
