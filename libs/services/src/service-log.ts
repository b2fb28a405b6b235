import { existsSync, readFileSync, statSync } from 'node:fs';

/** A line of a service's log; what else it has stands beside these. */
export interface LogLine {
  readonly ts: string;
  readonly level: string;
  readonly event: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** How much a log has now. The file goes on when its service is started again. */
export function lengthOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

/** What was written to a log from `start` on, in bytes. */
export function readLog(file: string, start = 0): string {
  return existsSync(file) ? readFileSync(file).subarray(start).toString() : '';
}

export function parseLog(text: string): readonly LogLine[] {
  return text.split('\n').flatMap(parseLine);
}

/** What Node itself says is no JSON, and the last line of a process that was killed may be half. */
function parseLine(line: string): LogLine[] {
  if (!line.startsWith('{')) return [];
  try {
    return [JSON.parse(line) as LogLine];
  } catch {
    return [];
  }
}
