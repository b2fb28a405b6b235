import { isAlive, startOf } from './process-table.js';

/** Names our process in a file: by its number, and by its start, since numbers are given away again. */
export function ownMark(): string {
  return `${process.pid} ${startOf(process.pid)}`;
}

/** Whether the process that made the mark still runs. */
export function isOfLiving(mark: string): boolean {
  const [pid, ...start] = mark.split(' ');
  return isAlive(Number(pid)) && startOf(Number(pid)) === start.join(' ');
}
