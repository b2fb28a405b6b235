import { chmodSync, renameSync, writeFileSync } from 'node:fs';

/** Writes a file so that whoever reads it sees the old content or the new, and never a part. */
export function replaceFile(file: string, content: string, mode = 0o644): void {
  const next = `${file}.${process.pid}`;
  writeFileSync(next, content, { mode });
  // The mode given to write is narrowed by the umask, and the server may be another user.
  chmodSync(next, mode);
  renameSync(next, file);
}
