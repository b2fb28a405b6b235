import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OptionError } from '../options.js';

/**
 * One run at a time: another one would kill this one's servers. The mark names the process that runs, so that one which was
 * killed keeps nobody out.
 *
 * @throws OptionError when another one runs.
 */
export function holdHome(folder: string): void {
  const mark = join(folder, 'run.pid');
  mkdirSync(folder, { recursive: true });
  const holder = readHolder(mark);
  if (holder !== null) throw new OptionError(`Another run is under way: process ${holder} (${mark})`);
  writeFileSync(mark, String(process.pid));
  process.once('exit', () => rmSync(mark, { force: true }));
}

/** Null when nobody runs. */
function readHolder(mark: string): number | null {
  try {
    const pid = Number(readFileSync(mark, 'utf8'));
    process.kill(pid, 0);
    return pid;
  } catch {
    // No mark, or the mark of a process that has ended.
    return null;
  }
}
