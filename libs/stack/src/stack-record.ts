import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from './replace-file.js';
import { SERVICES, URL_VARIABLE, type ServiceName } from './service.js';

/** What `stack.json` says about one server. */
export interface ServerRecord {
  /** Null when it does not run, or is not ours to run. */
  pid: number | null;
  port: number | null;
  /** Null for a server that was named by the environment. */
  dataDir: string | null;
  log: string | null;
  /** Null before the first start. */
  url: string | null;
}

export type StackRecord = Partial<Record<ServiceName, ServerRecord>>;

/**
 * The two files that scripts, tests and people read: `stack.json`, each server's process, port, folder and log, and
 * `stack.env`, the URLs as KEY=value lines for a shell or for `node --env-file`. They are notes: nothing of ours
 * depends on them, and what became of a server since is for the process table to say.
 *
 * Both may hold the password of the database, so they are for their owner alone.
 */
export class StackFiles {
  readonly json: string;
  readonly env: string;

  constructor(dataDir: string) {
    this.json = join(dataDir, 'stack.json');
    this.env = join(dataDir, 'stack.env');
  }

  /** Writes what is known now, and keeps what was known of the servers that are not named. */
  update(records: StackRecord): void {
    const all = { ...this.read(), ...records };
    replaceFile(this.json, `${JSON.stringify(all, null, 2)}\n`, 0o600);
    replaceFile(this.env, envLines(all), 0o600);
  }

  private read(): StackRecord {
    if (!existsSync(this.json)) return {};
    return JSON.parse(readFileSync(this.json, 'utf8')) as StackRecord;
  }
}

export function envLines(records: StackRecord): string {
  return SERVICES.flatMap((name) => {
    const url = records[name]?.url;
    return url ? [`${URL_VARIABLE[name]}=${quoted(url)}\n`] : [];
  }).join('');
}

/** Quoted only where a shell would read more into it than it says. */
function quoted(value: string): string {
  return /^[\w.,:/@%+=-]*$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
