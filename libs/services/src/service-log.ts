import { existsSync, readFileSync } from 'node:fs';

/** A line of a service's log; what else it has stands beside these. */
export interface LogLine {
  readonly ts: string;
  readonly level: string;
  readonly event: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** What a service has said, over all its lives; the file goes on when it is started again. */
export function readLog(file: string): readonly LogLine[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').flatMap(parseLine);
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
