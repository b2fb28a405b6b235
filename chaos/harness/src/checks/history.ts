import type { AttemptOutcome } from '@deadman/domain';
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Life } from '../run/lives.js';

/** Something that a process wrote down about an attempt. `at`: the wall clock of the process, ms since 1970. */
interface Entry {
  readonly jobId: string;
  readonly attempt: number;
  readonly at: number;
  readonly life: Life;
}

export interface Start extends Entry {
  /** Due → started. Milliseconds. */
  readonly waitedMs: number;
}

export interface Claim extends Entry {
  readonly token: string;
  readonly workerId: string;
}

/** An outcome that the store accepted: the worker's own, or the reclaim of a reaper. */
export interface Ending extends Entry {
  readonly outcome: AttemptOutcome;
}

/** What all processes together wrote down, in no order between processes. */
export interface History {
  readonly claims: readonly Claim[];
  readonly starts: readonly Start[];
  readonly endings: readonly Ending[];
  /** Writes that the fence refused. */
  readonly fenced: number;
  /** Runs that gave themselves up because nobody vouched for them. */
  readonly lost: number;
}

/** A history that is being read. */
export interface OpenHistory {
  readonly claims: Claim[];
  readonly starts: Start[];
  readonly endings: Ending[];
  fenced: number;
  lost: number;
}

/** The lines of `HistoryLog` (libs/observability), as far as they matter here. */
interface Line {
  readonly kind: string;
  readonly at: number;
  readonly jobId: string;
  readonly attempt: number;
  readonly outcome: AttemptOutcome;
  readonly waitedMs: number;
  readonly leases: readonly {
    readonly jobId: string;
    readonly attempt: number;
    readonly token: string;
    readonly workerId: string;
  }[];
}

export function emptyHistory(): OpenHistory {
  return { claims: [], starts: [], endings: [], fenced: 0, lost: 0 };
}

export async function readHistory(lives: readonly Life[]): Promise<History> {
  const history = emptyHistory();
  for (const life of lives) {
    // A process that was killed before it could open its history has done nothing.
    if (!existsSync(life.historyFile)) continue;
    for await (const text of createInterface({ input: createReadStream(life.historyFile) })) {
      addLine(history, text, life);
    }
  }
  return history;
}

/** A half line is the last one of a process that was killed in the middle of it. */
export function addLine(history: OpenHistory, text: string, life: Life): void {
  if (!text.endsWith('}')) return;
  const { kind, at, jobId, attempt, outcome, waitedMs, leases } = JSON.parse(text) as Line;
  const entry = { jobId, attempt, at, life };
  switch (kind) {
    case 'jobs-claimed':
      for (const lease of leases) history.claims.push({ ...lease, at, life });
      return;
    case 'attempt-started':
      history.starts.push({ ...entry, waitedMs });
      return;
    case 'attempt-settled':
      history.endings.push({ ...entry, outcome });
      return;
    case 'job-reclaimed':
      history.endings.push({ ...entry, outcome: 'lapsed' });
      return;
    case 'write-fenced':
      history.fenced += 1;
      return;
    case 'run-lost':
      history.lost += 1;
      return;
  }
}

export const attemptKey = (jobId: string, attempt: number): string => `${jobId} ${attempt}`;
