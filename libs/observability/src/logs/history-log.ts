import { EngineEvents } from '@deadman/domain';
import type { Clock, EngineEvent } from '@deadman/domain';
import { mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ServiceInfo } from '../service-info.js';

/** What tells of a job, and by which a checker can follow each of its attempts through all processes. */
const KEPT = [
  'jobs-claimed',
  'attempt-started',
  'attempt-settled',
  'write-fenced',
  'run-lost',
  'run-aborted',
  'step-in-doubt',
  'orphan-released',
  'job-reclaimed',
  'dead-letter-recorded',
] as const satisfies readonly EngineEvent['kind'][];

type Kept = Extract<EngineEvent, { kind: (typeof KEPT)[number] }>;

/** A line of a history. `at`: this process's wall clock, milliseconds since 1970. The first line tells whose life it is. */
export type HistoryLine = { readonly at: number } & (
  ({ readonly kind: 'opened'; readonly pid: number } & ServiceInfo) | Omit<Kept, 'error'>
);

/**
 * Appends what happens to jobs to a file, a JSON line each and each by a write of its own: what was written is the kernel's,
 * so that it outlives a `kill -9` of this process, which is what the file is read for.
 */
export class HistoryLog extends EngineEvents {
  readonly #file: number;
  readonly #clock: Clock;

  /** Opens the file, and makes its folder. Throws when it cannot: a history with a hole proves nothing. */
  constructor(path: string, info: ServiceInfo, clock: Clock) {
    super();
    mkdirSync(dirname(path), { recursive: true });
    this.#file = openSync(path, 'a');
    this.#clock = clock;
    this.#write({ kind: 'opened', pid: process.pid, ...info });
  }

  override emit(event: EngineEvent): void {
    if ((KEPT as readonly string[]).includes(event.kind)) this.#write(event);
  }

  #write(fields: object): void {
    // An error may be long, and may quote a payload; the database has it.
    const line = JSON.stringify({ at: this.#clock.now().getTime(), ...fields, error: undefined });
    writeSync(this.#file, `${line}\n`);
  }
}
