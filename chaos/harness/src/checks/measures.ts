import { isTerminal } from '@deadman/domain';
import { duplicateRuns } from '@deadman/engine';
import { STRATA } from '../run/lives.js';
import type { Life, Stratum } from '../run/lives.js';
import { toAttemptRecords } from './evidence.js';
import type { AttemptRow, Evidence } from './evidence.js';
import { attemptKey } from './history.js';

/** Milliseconds. All are null where there is nothing to measure. */
export interface Distribution {
  readonly count: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

/** The figures that stand beside the zeros. */
export interface Measures {
  readonly accepted: number;
  readonly states: Readonly<Record<string, number>>;
  /** Accepted and not ended. */
  readonly lost: number;
  /** Jobs whose effect fired more than once, by either counter. */
  readonly double: number;
  readonly started: number;
  /** Executions that had started and were ended by a SIGKILL of their worker. */
  readonly interrupted: number;
  readonly killRate: number;
  readonly kills: number;
  readonly killsByStratum: Readonly<Partial<Record<Stratum | 'unmeant', number>>>;
  /** Executions in flight at each kill of a worker. */
  readonly inFlight: { readonly mean: number; readonly most: number };
  readonly lapses: number;
  readonly duplicateRuns: number;
  /** Lapses from the one that sends a job to quarantine on. */
  readonly quarantines: number;
  readonly fencedWrites: number;
  readonly runsGivenUp: number;
  /** Kill → the next start of the job; where the next worker too was killed before it could start it, → its claim. */
  readonly recovery: Distribution;
  /** The same of jobs that went through quarantine. */
  readonly recoveryFromQuarantine: Distribution;
  readonly refusals: number;
}

export function measure(evidence: Evidence): Measures {
  const { accepted, jobs, history, lives, attempts, ledger, sink, refusals } = evidence;
  const kills = lives.filter(({ service, wasKilled }) => service === 'worker' && wasKilled);
  const interrupted = countInterrupted(evidence);
  const { length: started } = history.starts;
  const isOver = (id: string): boolean => isTerminal(jobs.get(id)?.state ?? 'PENDING');
  const fired = (id: string): number => Math.max(distinct(ledger.get(id)).size, distinct(sink.get(id)).size);
  const rows = [...attempts.values()];
  return {
    accepted: accepted.length,
    states: tally(accepted.map((id) => jobs.get(id)?.state ?? 'UNKNOWN')),
    lost: accepted.filter((id) => !isOver(id)).length,
    double: [...jobs.keys()].filter((id) => fired(id) > 1 || (ledger.get(id)?.length ?? 0) > 1).length,
    started,
    interrupted,
    killRate: started === 0 ? 0 : interrupted / started,
    kills: kills.length,
    killsByStratum: tally(kills.map(({ stratum }) => stratum ?? 'unmeant')),
    inFlight: inFlightAt(kills, evidence),
    lapses: rows.reduce((sum, of) => sum + of.filter(({ outcome }) => outcome === 'lapsed').length, 0),
    duplicateRuns: rows.reduce((sum, of) => sum + duplicateRuns(toAttemptRecords(of)), 0),
    ...recoveries(evidence),
    fencedWrites: history.fenced,
    runsGivenUp: history.lost,
    refusals: refusals.length,
  };
}

/** How often each named place was the end of a worker, with the zeros. */
export function strataHit(kills: Measures['killsByStratum']): readonly (readonly [Stratum, number])[] {
  return STRATA.map((stratum) => [stratum, kills[stratum] ?? 0] as const);
}

/** A start in a life that was killed, of an attempt that nobody could settle: the reaper's row says that it lapsed. */
function countInterrupted({ history, attempts }: Evidence): number {
  const lapsed = new Set<string>();
  for (const rows of attempts.values()) {
    for (const { jobId, attempt, outcome } of rows) if (outcome === 'lapsed') lapsed.add(attemptKey(jobId, attempt));
  }
  return history.starts.filter(({ jobId, attempt, life }) => life.wasKilled && lapsed.has(attemptKey(jobId, attempt)))
    .length;
}

function inFlightAt(kills: readonly Life[], { history }: Evidence): Measures['inFlight'] {
  const open = new Map<Life, number>(kills.map((life) => [life, 0]));
  const add = (life: Life, by: number): void => {
    const count = open.get(life);
    if (count !== undefined) open.set(life, count + by);
  };
  const started = new Set(history.starts.map(({ jobId, attempt }) => attemptKey(jobId, attempt)));
  for (const { life } of history.starts) add(life, 1);
  for (const { life, jobId, attempt } of history.endings) if (started.has(attemptKey(jobId, attempt))) add(life, -1);
  const counts = [...open.values()];
  const sum = counts.reduce((total, count) => total + count, 0);
  return { mean: counts.length === 0 ? 0 : sum / counts.length, most: counts.reduce((a, b) => Math.max(a, b), 0) };
}

function recoveries(evidence: Evidence): Pick<Measures, 'quarantines' | 'recovery' | 'recoveryFromQuarantine'> {
  const { attempts, history, terms } = evidence;
  const lifeOf = new Map(history.claims.map(({ workerId, life }) => [workerId, life]));
  const startOf = new Map(history.starts.map(({ jobId, attempt, at }) => [attemptKey(jobId, attempt), at]));
  const plain: number[] = [];
  const quarantined: number[] = [];
  let quarantines = 0;
  for (const rows of attempts.values()) {
    let inRow = 0;
    for (const [index, row] of rows.entries()) {
      inRow = row.outcome === 'lapsed' ? inRow + 1 : 0;
      if (inRow >= terms.quarantineFrom) quarantines += 1;
      const diedAtMs = lifeOf.get(row.workerId)?.endedAtMs ?? null;
      const next = rows[index + 1];
      if (inRow === 0 || diedAtMs === null || next === undefined) continue;
      const tookMs = takenUpAtMs(next, startOf) - diedAtMs;
      (inRow >= terms.quarantineFrom ? quarantined : plain).push(tookMs);
    }
  }
  return { quarantines, recovery: distribution(plain), recoveryFromQuarantine: distribution(quarantined) };
}

function takenUpAtMs({ jobId, attempt, claimedAtMs }: AttemptRow, startOf: ReadonlyMap<string, number>): number {
  return startOf.get(attemptKey(jobId, attempt)) ?? claimedAtMs;
}

export function distribution(values: readonly number[]): Distribution {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number): number | null =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? null;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? null };
}

export function distinct(firings: readonly string[] | undefined): ReadonlySet<string> {
  return new Set(firings);
}

function tally<Key extends string>(keys: readonly Key[]): Record<Key, number> {
  const counts = {} as Record<Key, number>;
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}
