import { commandOf, isAlive } from '@deadman/embedded-postgres';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceName } from './service-name.js';

/** A line of `services.json`: a service that runs. */
export interface ServiceRecord {
  readonly service: ServiceName;
  readonly instance: string;
  readonly pid: number;
  /** Of the api; null for services that serve nobody. */
  readonly port: number | null;
  readonly managementPort: number;
  readonly log: string;
}

const FILE = 'services.json';

/** Writes which services run now. Whoever reads the file sees the old content or the new, and never a part. */
export function writeRecords(dataDir: string, records: readonly ServiceRecord[]): void {
  const file = join(dataDir, FILE);
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(records, null, 2)}\n`);
  renameSync(next, file);
}

/** Those of the file that run: whoever wrote it may have been killed, and a process number may have been given to another. */
export function readRunning(dataDir: string): readonly ServiceRecord[] {
  const file = join(dataDir, FILE);
  if (!existsSync(file)) return [];
  return (JSON.parse(readFileSync(file, 'utf8')) as readonly ServiceRecord[]).filter(isRunning);
}

export function isRunning({ pid, service }: Pick<ServiceRecord, 'pid' | 'service'>): boolean {
  return isAlive(pid) && commandOf(pid).includes(mainOf(service));
}

/** Where a service's compiled entry lies, from the repository's root. */
export function mainOf(service: ServiceName | 'migrate'): string {
  return join('apps', service, 'dist', 'main.js');
}
