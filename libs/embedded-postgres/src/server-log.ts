import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';

/** Size from which a start puts the log aside, keeping one older file. Bytes; a guess at what nobody misses. */
const ROTATE_AT_BYTES = 16 * 1024 * 1024;

/** How much of the end of the log an error message carries. Characters. */
const TAIL_LENGTH = 3_000;

/** The file a server writes to. It belongs to the server's process, which may outlive the one that opened it. */
export class ServerLog {
  private startedAt = 0;

  constructor(private readonly file: string) {}

  /** Hands the file's descriptor to `use`, for the new process to inherit, and marks where its part begins. */
  lend<T>(use: (descriptor: number) => T): T {
    if (this.size() > ROTATE_AT_BYTES) renameSync(this.file, `${this.file}.1`);
    this.startedAt = this.size();
    const descriptor = openSync(this.file, 'a', 0o644);
    try {
      return use(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  /** What was written since the last start, at most its end. */
  tail(): string {
    if (!existsSync(this.file)) return '(nothing)';
    return readFileSync(this.file).subarray(this.startedAt).toString('utf8').slice(-TAIL_LENGTH).trim() || '(nothing)';
  }

  private size(): number {
    return existsSync(this.file) ? statSync(this.file).size : 0;
  }
}
