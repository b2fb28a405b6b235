import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../run/frozen-code.js';
import { CHECKS, STORM_CHECKS } from './checks.js';
import {
  aClaim,
  aJobRow,
  anAttempt,
  anEnding,
  aStart,
  blameless,
  DEAD,
  LIVING,
  REAPER,
  TTL_MS,
} from './doctored.contract.js';
import type { Evidence } from './evidence.js';
import { measure } from './measures.js';

const ALL = [...CHECKS, ...STORM_CHECKS];

/** Names of the checks that a run breaks. */
function broken(evidence: Evidence): readonly string[] {
  const measures = measure(evidence);
  return ALL.filter(({ find }) => find(evidence, measures).length > 0).map(({ name }) => name);
}

type Doctor = (evidence: Evidence) => Partial<Evidence>;

const withJob =
  (id: string, more: Parameters<typeof aJobRow>[1]): Doctor =>
  ({ jobs }) => ({ jobs: new Map(jobs).set(id, { ...jobs.get(id)!, ...more }) });

const withAttempts =
  (id: string, rows: readonly ReturnType<typeof anAttempt>[]): Doctor =>
  ({ attempts }) => ({ attempts: new Map(attempts).set(id, rows) });

const withHistory =
  (more: (history: Evidence['history']) => Partial<Evidence['history']>): Doctor =>
  ({ history }) => ({ history: { ...history, ...more(history) } });

/** What somebody could have done wrong, and the check that has to say so. */
const DOCTORED: readonly (readonly [check: string, what: string, doctor: Doctor])[] = [
  ['nothing-lost', 'an accepted job is not in the database', ({ accepted }) => ({ accepted: [...accepted, 'gone'] })],
  ['nothing-lost', 'an accepted job still runs', withJob('plain', { state: 'RUNNING' })],
  [
    'fired-once-by-table',
    'two lines of one job',
    ({ ledger }) => ({ ledger: new Map(ledger).set('plain', ['a', 'b']) }),
  ],
  [
    'fired-once-by-table',
    'the same line twice',
    ({ ledger }) => ({ ledger: new Map(ledger).set('plain', ['firing-1', 'firing-1']) }),
  ],
  ['fired-once-by-sink', 'two firings of one job', ({ sink }) => ({ sink: new Map(sink).set('plain', ['a', 'b']) })],
  ['success-has-fired', 'a success that fired nothing', ({ ledger }) => ({ ledger: without(ledger, 'plain') })],
  ['success-has-fired', 'a firing that nobody was told of', ({ sink }) => ({ sink: without(sink, 'plain') })],
  ['success-has-fired', 'other firings in table and sink', ({ sink }) => ({ sink: new Map(sink).set('plain', ['x']) })],
  [
    'an-end-is-the-end',
    'a run after the success',
    withAttempts('plain', [anAttempt('plain', 1), anAttempt('plain', 2, { outcome: 'failed' })]),
  ],
  ['an-end-is-the-end', 'a success that no attempt brought', withAttempts('plain', [])],
  ['an-end-is-the-end', 'a success that became a death', withJob('plain', { state: 'DEAD', failures: 5 })],
  [
    'attempts-rise',
    'one attempt, claimed with two tokens',
    withHistory(({ claims }) => ({ claims: [...claims, { ...aClaim('plain', 1, DEAD), token: 'another' }] })),
  ],
  [
    'attempts-rise',
    'an attempt that was left out',
    withAttempts('killed', [
      anAttempt('killed', 1, { outcome: 'lapsed' }),
      anAttempt('killed', 3, { claimedAtMs: 9_000 }),
    ]),
  ],
  [
    'attempts-rise',
    'a claim before the attempt before it had ended',
    withAttempts('killed', [
      anAttempt('killed', 1, { outcome: 'lapsed' }),
      anAttempt('killed', 2, { claimedAtMs: 1_500 }),
    ]),
  ],
  ['attempts-rise', 'an attempt that was set back', withJob('killed', { attempt: 1 })],
  [
    'dead-for-a-reason',
    'a crash loop of a job that was hardly ever alone',
    withJob('plain', { state: 'DEAD', crashes: 8, lapses: 8 }),
  ],
  [
    'failures-are-the-handlers-own',
    'a failure that was not counted',
    withAttempts('killed', [
      anAttempt('killed', 1, { outcome: 'failed' }),
      anAttempt('killed', 2, { claimedAtMs: 9_000 }),
    ]),
  ],
  ['failures-are-the-handlers-own', 'a lapse that was counted as a failure', withJob('killed', { failures: 1 })],
  ['dead-for-a-reason', 'a death without a reason', withJob('plain', { state: 'DEAD', failures: 1 })],
  [
    'one-outcome-each',
    'a worker and a reaper were both told that theirs stands',
    withHistory(({ endings }) => ({ endings: [...endings, anEnding('plain', 1, REAPER, 'lapsed')] })),
  ],
  [
    'settled-by-its-claim',
    'an outcome that is not the one that stands',
    withHistory(({ endings }) => ({ endings: [...endings.slice(1), anEnding('plain', 1, LIVING, 'failed')] })),
  ],
  [
    'settled-by-its-claim',
    'an outcome under the token of another',
    withAttempts('plain', [anAttempt('plain', 1, { token: 'another' })]),
  ],
  [
    'settled-by-its-claim',
    'an outcome that was lost again',
    withHistory(({ endings }) => ({ endings: [...endings, anEnding('plain', 2, LIVING, 'succeeded')] })),
  ],
  [
    'histories-are-whole',
    'a success that nobody started',
    withHistory(({ starts }) => ({ starts: starts.filter(({ jobId }) => jobId !== 'plain') })),
  ],
  [
    'refusals-say-what-to-do',
    'a 500 without advice',
    () => ({ refusals: [{ status: 500, code: null, retryable: null, retryAfter: null }] }),
  ],
  ['nothing-left-over', 'a row in the outbox', () => ({ left: { outbox: 1, overdue: 0 } })],
  ['nothing-left-over', 'a job that is due', () => ({ left: { outbox: 0, overdue: 1 } })],
  ['every-death-has-its-letter', 'a death without a letter', withJob('plain', { state: 'DEAD', failures: 5 })],
  ['ended-in-time', 'too long', ({ ending }) => ({ ending: { ...ending, inTime: false } })],
  [
    'kill-rate-reached',
    'no run was interrupted',
    withHistory(({ starts }) => ({ starts: starts.map((start) => ({ ...start, life: LIVING })) })),
  ],
  [
    'every-stratum-hit',
    'no worker died before a claim',
    ({ lives }) => ({ lives: lives.filter(({ stratum }) => stratum !== 'before_claim') }),
  ],
  ['runs-were-repeated', 'nothing ran twice', withAttempts('killed', [anAttempt('killed', 2)])],
  ['none-is-dead', 'a healthy job died', withJob('plain', { state: 'DEAD', failures: 5 })],
  [
    'recovered-in-time',
    'a job that was taken up late',
    withHistory(({ starts }) => ({
      starts: [...starts.slice(0, 2), aStart('killed', 2, LIVING, DEAD.endedAtMs! + TTL_MS + 15_001)],
    })),
  ],
];

function without<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  return new Map([...map].filter(([id]) => id !== key));
}

describe('the checks', () => {
  it('find nothing in a run without a fault', () => {
    expect(broken(blameless())).toEqual([]);
  });

  it.each(DOCTORED)('%s finds %s', (check, _what, doctor) => {
    const evidence = blameless();
    expect(broken({ ...evidence, ...doctor(evidence) })).toContain(check);
  });

  it('can all fail', () => {
    const shown = new Set(DOCTORED.map(([check]) => check));
    expect(ALL.filter(({ name }) => !shown.has(name))).toEqual([]);
  });

  it('stand in the guide, each by its name', () => {
    const guide = readFileSync(join(ROOT, 'docs', 'guides', 'chaos.md'), 'utf8');
    expect(ALL.filter(({ name }) => !guide.includes(`\`${name}\``))).toEqual([]);
  });

  it('have names of their own', () => {
    expect(new Set(ALL.map(({ name }) => name)).size).toBe(ALL.length);
  });
});
