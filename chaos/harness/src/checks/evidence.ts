import type { AttemptOutcome, AttemptRecord, JobState } from '@deadman/domain';
import type { Refusal } from '../load/client.js';
import type { Life } from '../run/lives.js';
import type { History } from './history.js';

/** A job as the database has it at the end. */
export interface JobRow {
  readonly id: string;
  readonly state: JobState;
  readonly attempt: number;
  readonly failures: number;
  readonly lapses: number;
  readonly crashes: number;
  readonly snoozes: number;
  readonly maxAttempts: number;
}

/** A row of the history of attempts in the database. */
export interface AttemptRow {
  readonly jobId: string;
  readonly attempt: number;
  readonly token: string;
  readonly workerId: string;
  readonly outcome: Exclude<AttemptOutcome, 'running'>;
  readonly claimedAtMs: number;
  readonly startedAt: Date | null;
  readonly finishedAtMs: number;
  readonly reason: string | null;
  readonly reclaimedBy: string | null;
}

/** What a client or a handler outside every database says was fired: job → the firings, each as often as it was told. */
export type Firings = ReadonlyMap<string, readonly string[]>;

/** What the run was to be like; what some checks hold it against. */
export interface Terms {
  readonly ttlMs: number;
  /** Least share of started executions that a SIGKILL has to end; null where the scenario asks for none. */
  readonly killRate: number | null;
  /** Bound of the 99th percentile of kill → next start; null where none is promised. Milliseconds. */
  readonly recoveryP99Ms: number | null;
  readonly quarantineFrom: number;
  readonly crashBudget: number;
  readonly maxSnoozes: number;
}

/** Everything that a run left behind. Checks look at nothing else. */
export interface Evidence {
  readonly terms: Terms;
  /** What clients were told, from their own file. */
  readonly accepted: readonly string[];
  readonly refusals: readonly Refusal[];
  readonly jobs: ReadonlyMap<string, JobRow>;
  /** By job, in the order of the attempts. */
  readonly attempts: ReadonlyMap<string, readonly AttemptRow[]>;
  /** The table without a key, written in the effect's transaction. */
  readonly ledger: Firings;
  /** The file outside the killed processes. */
  readonly sink: Firings;
  readonly history: History;
  readonly lives: readonly Life[];
  /** Dead letters, as `job attempt`. */
  readonly letters: readonly string[];
  readonly left: {
    readonly outbox: number;
    readonly overdue: number;
  };
  /** Whether everything had ended before the bound of G9; and how long that took after the last fault. Milliseconds. */
  readonly ending: { readonly inTime: boolean; readonly tookMs: number; readonly limitMs: number };
}

/** The fields that `duplicateRuns` of the engine reads. */
export function toAttemptRecords(rows: readonly AttemptRow[]): readonly AttemptRecord[] {
  return rows as unknown as readonly AttemptRecord[];
}
