/**
 * Corners of the protocol that a rule was written for. Each has to come about in a run of a thousand schedules, or the run
 * proves nothing about that rule.
 */
export const CORNERS: readonly string[] = [
  'zombie settled after reap',
  'claim reply lost',
  'late claim not started',
  'reclaim raced',
  'redelivery absorbed',
  'orphan claim released',
  'lost run aborted: stale',
  'lost run aborted: unconfirmed',
  'idle claim used by a busy worker',
  'quarantined',
  'ran alone from quarantine',
  'drain-for-quarantine',
  'superseded dead letter',
  'vouched by Redis alone',
  'vouched by Postgres alone',
  'settled before, and its reply lost',
  'attempt number given out twice',
  'deaths told again',
  'cancel of a running job',
  'cancel asked',
  'cancel cancelled',
  'cancel finished',
  'retry ready',
  'redrive ready',
  'redrive superseded',
  'job-reclaimed lease-lapsed',
  'job-reclaimed worker-gone',
  'job-reclaimed timeout',
  'job-reclaimed cancel-grace',
  'lapse under a cancel',
  'success without its effect released',
  'effect fenced',
  'step fenced',
  'step in doubt',
  'submission replayed',
  'submit of unknown outcome',
  'sent by the relay',
  'died of crash-loop',
  'died of exhausted',
  'died of non-retryable',
  'died of snooze-limit',
  'run-aborted shutdown',
  'run-aborted timeout',
  'run-aborted cancelled',
  'group member expired',
  'stale commit dropped',
  'scan held back by a broken store',
  'lease store not trusted',
  'key held by another body',
  'answer to a client lost',
];

/** Counts what came about, so that a run can show which corners it has seen and which it never reached. */
export class Situations {
  readonly #counts = new Map<string, number>();

  count(what: string, by = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + by);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  addAll(others: Readonly<Record<string, number>>): void {
    for (const [what, count] of Object.entries(others)) this.count(what, count);
  }

  toRecord(): Record<string, number> {
    return Object.fromEntries([...this.#counts].toSorted(([one], [other]) => one.localeCompare(other)));
  }
}
