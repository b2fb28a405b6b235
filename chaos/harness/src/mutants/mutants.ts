/** One place of a source file that is changed. Sources with decorators cannot be: only types are taken off. */
export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A fault that somebody could put into the code, and how real processes show it. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly scenario: string;
  /** The check that has to go red. */
  readonly check: string;
  /** Options of the run beside those of all mutants; as on the command line. */
  readonly options?: readonly string[];
}

/** Patches of a copy of the code, never switches in the product. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a lapse counts as a failure',
    scenario: 'worker-killed-mid-execution',
    check: 'failures-are-the-handlers-own',
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: '    lapses: job.lapses + 1,\n',
        to: '    lapses: job.lapses + 1, failures: job.failures + 1,\n',
      },
    ],
  },
  {
    name: 'an effect outside its transaction',
    scenario: 'all-workers-at-once',
    check: 'fired-once-by-table',
    edits: [
      {
        file: 'libs/store/src/postgres/effect-session.ts',
        from: `const BEGIN = "BEGIN; SET LOCAL deadman.effect = 'open'";`,
        to: `const BEGIN = "SET deadman.effect = 'open'";`,
      },
    ],
  },
  {
    name: 'no idle claim',
    scenario: 'broker-killed',
    check: 'work-goes-on',
    edits: [
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: "if (isIdleClaimOwed(situation, pace)) return { kind: 'idle', limit };\n",
        to: '\n',
      },
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: "if (nowMs >= situation.nextIdleClaimAtMs) return { kind: 'idle', limit };\n",
        to: "if (nowMs >= situation.nextIdleClaimAtMs) return { kind: 'wait', forMs: MAX_WAIT_MS };\n",
      },
    ],
  },
  {
    name: 'a cancel is forgotten at a failure',
    scenario: 'cancel-against-complete',
    check: 'cancelled-runs-never-again',
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: "decision.state === 'RUNNING' || decision.state === 'SUCCEEDED') return null;",
        to: "decision.state === 'RUNNING' || decision.state === 'SUCCEEDED' || decision.state === 'FAILED') return null;",
      },
    ],
  },
  {
    name: 'the row of a death is deleted when it was sent',
    scenario: 'letters-and-a-wiped-broker',
    check: 'every-death-has-its-letter',
    edits: [
      {
        file: 'libs/engine/src/publisher.ts',
        from: "entries.filter(({ id, kind }) => kind === 'ready' && acknowledged.has(id))",
        to: 'entries.filter(({ id }) => acknowledged.has(id))',
      },
      {
        file: 'libs/store/src/postgres/statements/delete-outbox.sql',
        from: "o.id = ANY ($1::uuid[]) AND o.kind = 'ready'",
        to: 'o.id = ANY ($1::uuid[])',
      },
    ],
  },
  {
    name: 'a plain crash budget instead of quarantine',
    scenario: 'poison',
    check: 'dead-for-a-reason',
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: 'const crashes = job.crashes + (job.claim?.alone ? 1 : 0);',
        to: 'const crashes = job.crashes + 1;',
      },
      {
        file: 'libs/domain/src/transition.ts',
        from: 'const isQuarantined = lapsesInRow >= limits.quarantineFrom;',
        to: 'const isQuarantined = false;',
      },
    ],
  },
];

/**
 * Mutants of `faults.md` that real processes do not show within minutes: each needs two faults within milliseconds of each
 * other, or a database that forgets. Schedules find them, and specs: by these names in `chaos/simulation/mutants`.
 */
export const SIMULATED_ONLY: readonly string[] = [
  'the fence does not look at the token',
  'no grace: a reap half a lease after the last beat',
  'an effect is fenced first instead of last',
  'a lost run is revived by a later renewal',
  'staleness without an unbroken database',
];
