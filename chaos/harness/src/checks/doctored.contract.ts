import type { Life } from '../run/lives.js';
import { STRATA } from '../run/lives.js';
import type { AttemptRow, Evidence, JobRow } from './evidence.js';
import type { Claim, Ending, Start } from './history.js';

/**
 * What a small and blameless storm leaves behind, for tests to doctor: `plain` succeeds at once, `killed` is interrupted by
 * a kill and succeeds at its second attempt. One worker dies at each named place.
 */
export const TTL_MS = 2_000;

const DIED_AT_MS = 10_000;

const life = (instance: string, number: number, more: Partial<Life> = {}): Life => ({
  service: 'worker',
  instance,
  number,
  historyFile: `${instance}.${number}`,
  startedAtMs: 0,
  endedAtMs: null,
  wasKilled: false,
  stratum: null,
  ...more,
});

export const LIVING = life('worker-1', 1);
export const REAPER = life('reaper-1', 1, { service: 'reaper' });
export const DEAD = life('worker-2', 1, { endedAtMs: DIED_AT_MS, wasKilled: true, stratum: 'mid_handler' });
const OTHERS = STRATA.filter((stratum) => stratum !== 'mid_handler');

export function aJobRow(id: string, more: Partial<JobRow> = {}): JobRow {
  const counters = { failures: 0, lapses: 0, crashes: 0, snoozes: 0 };
  return { id, state: 'SUCCEEDED', attempt: 1, ...counters, maxAttempts: 5, ...more };
}

export function anAttempt(jobId: string, attempt: number, more: Partial<AttemptRow> = {}): AttemptRow {
  return {
    jobId,
    attempt,
    token: `token-${jobId}-${attempt}`,
    workerId: LIVING.instance,
    outcome: 'succeeded',
    claimedAtMs: 1_000,
    startedAt: new Date(1_000),
    finishedAtMs: 2_000,
    reason: null,
    reclaimedBy: null,
    ...more,
  };
}

export const aClaim = (jobId: string, attempt: number, of: Life): Claim => ({
  jobId,
  attempt,
  token: `token-${jobId}-${attempt}`,
  workerId: of.instance,
  at: 1_000,
  life: of,
});

export const aStart = (jobId: string, attempt: number, of: Life, at = 1_000): Start => ({
  jobId,
  attempt,
  at,
  life: of,
  waitedMs: 0,
});

export const anEnding = (jobId: string, attempt: number, of: Life, outcome: Ending['outcome']): Ending => ({
  jobId,
  attempt,
  at: 2_000,
  life: of,
  outcome,
});

const LAPSED = {
  outcome: 'lapsed',
  workerId: DEAD.instance,
  startedAt: null,
  finishedAtMs: 13_000,
  reason: 'lease-lapsed',
  reclaimedBy: 'reaper-1',
} as const;

const SECOND = { claimedAtMs: 13_100, startedAt: new Date(13_150), finishedAtMs: 14_000 };

export function blameless(): Evidence {
  return {
    terms: {
      ttlMs: TTL_MS,
      killRate: 0.3,
      recoveryP99Ms: TTL_MS + 15_000,
      quarantineFrom: 7,
      crashBudget: 8,
      maxSnoozes: 1_000,
    },
    accepted: ['plain', 'killed'],
    refusals: [{ status: 503, code: 'overloaded', retryable: true, retryAfter: '1' }],
    jobs: new Map([
      ['plain', aJobRow('plain')],
      ['killed', aJobRow('killed', { attempt: 2, lapses: 1 })],
    ]),
    attempts: new Map([
      ['plain', [anAttempt('plain', 1)]],
      ['killed', [anAttempt('killed', 1, LAPSED), anAttempt('killed', 2, SECOND)]],
    ]),
    ledger: new Map([
      ['plain', ['firing-1']],
      ['killed', ['firing-2']],
    ]),
    // A run that found the effect done has reported it once more.
    sink: new Map([
      ['plain', ['firing-1']],
      ['killed', ['firing-2', 'firing-2']],
    ]),
    history: {
      claims: [aClaim('plain', 1, LIVING), aClaim('killed', 1, DEAD), aClaim('killed', 2, LIVING)],
      starts: [aStart('plain', 1, LIVING), aStart('killed', 1, DEAD), aStart('killed', 2, LIVING, 13_150)],
      endings: [
        anEnding('plain', 1, LIVING, 'succeeded'),
        anEnding('killed', 1, REAPER, 'lapsed'),
        anEnding('killed', 2, LIVING, 'succeeded'),
      ],
      fenced: 0,
      lost: 0,
    },
    lives: [
      LIVING,
      REAPER,
      DEAD,
      ...OTHERS.map((stratum, index) =>
        life('worker-2', index + 2, { endedAtMs: DIED_AT_MS, wasKilled: true, stratum }),
      ),
    ],
    letters: [],
    left: { outbox: 0, overdue: 0 },
    ending: { inTime: true, tookMs: 5_000, limitMs: 98_000 },
  };
}
