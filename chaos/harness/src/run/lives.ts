import type { ServiceName } from '@deadman/services';

/** Where a worker is killed: at a failpoint of that name, or at whatever moment it is. */
export const STRATA = [
  'before_claim',
  'after_claim',
  'mid_handler',
  'before_settle',
  'after_settle',
  'any_moment',
] as const;

export type Stratum = (typeof STRATA)[number];

/** One life of a process. Instants are the wall clock of this machine, in milliseconds since 1970. */
export interface Life {
  readonly service: ServiceName;
  readonly instance: string;
  /** 1 for the first life of all. */
  readonly number: number;
  readonly historyFile: string;
  readonly startedAtMs: number;
  /** Null while it lives. */
  endedAtMs: number | null;
  /** Whether it was ended by SIGKILL. */
  wasKilled: boolean;
  /** Where it was to be killed; null for one that nobody meant to kill. */
  stratum: Stratum | null;
}
