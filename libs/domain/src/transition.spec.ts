import { aClaim, aClaimedJob, aJob, anAttemptError, aTransition, FixedRandom, TEST_RULES } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import type { JobEvent } from './job-event.js';
import { DEFAULT_LIMITS } from './job-limits.js';
import type { ClaimedJob, Job } from './job.js';
import { NO_COUNTS } from './job.js';
import { admit, Transition } from './transition.js';
import type { Decision, JobSnapshot } from './transition.js';

const decide = (job: JobSnapshot, event: JobEvent): Decision => aTransition(job, event).decision;

const SUCCEED: JobEvent = { kind: 'succeed', result: '{"ok":true}', effects: [], startedAfterMs: 3 };
const FAIL: JobEvent = { kind: 'fail', error: anAttemptError(), retryable: true, startedAfterMs: 3 };
const SNOOZE: JobEvent = { kind: 'snooze', delayMs: 5_000, startedAfterMs: 3 };
const RELEASE: JobEvent = { kind: 'release', reason: 'shutdown', startedAfterMs: null };
const LAPSE: JobEvent = { kind: 'lapse', reason: 'worker-gone', reclaimedBy: 'reaper-1' };
const CANCELLED: JobEvent = { kind: 'cancelled', startedAfterMs: 3 };

describe('admit', () => {
  it('makes a job PENDING with nothing counted; SQL alone knows whether its time is in the future', () => {
    const at = new Date('2030-01-01T00:00:00.000Z');
    const made = admit('job-1', { kind: 'at', at });
    expect(made).toMatchObject({
      jobId: 'job-1',
      event: 'submit',
      from: null,
      fence: { by: 'none' },
      underCancel: null,
    });
    expect(made.decision).toMatchObject({ ...NO_COUNTS, state: 'PENDING', due: { kind: 'at', at }, attempt: 0 });
  });
});

describe('claim', () => {
  it('raises the attempt and leaves every other count alone', () => {
    const job = aJob({ attempt: 4, failures: 1, lapses: 2, lapsesInRow: 2, snoozes: 3 });
    expect(decide(job, { kind: 'claim', alone: false })).toMatchObject({
      state: 'RUNNING',
      attempt: 5,
      failures: 1,
      lapses: 2,
      lapsesInRow: 2,
      snoozes: 3,
      due: 'keep',
      ends: null,
    });
  });
});

describe('succeed', () => {
  it('keeps the result and forgives lapses in a row, but not the totals', () => {
    const job = aClaimedJob({ failures: 1, lapses: 9, lapsesInRow: 6, crashes: 2 });
    expect(decide(job, SUCCEED)).toMatchObject({
      state: 'SUCCEEDED',
      result: '{"ok":true}',
      failures: 1,
      lapses: 9,
      lapsesInRow: 0,
      crashes: 0,
      ends: { outcome: 'succeeded', startedAfterMs: 3, error: null, reason: null },
    });
  });

  it('names the effects it saw, and is a release when one of them is missing from the database', () => {
    const job = aClaimedJob({ failures: 1, lapsesInRow: 3 });
    const made = aTransition(job, { ...SUCCEED, effects: ['charge'] });
    expect(made.effects).toEqual(['charge']);
    expect(made.withoutEffects?.decision).toMatchObject({
      state: 'PENDING',
      due: { kind: 'now' },
      failures: 1,
      lapsesInRow: 3,
      result: null,
      ends: { outcome: 'released', reason: 'effects-missing' },
    });
    expect(made.withoutEffects?.underCancel?.state).toBe('CANCELLED');
  });

  it('has no such alternative when the run saw no effects', () => {
    expect(aTransition(aClaimedJob(), SUCCEED).withoutEffects).toBeNull();
  });
});

describe('fail', () => {
  it("waits for the policy's delay, by the dice it was given", () => {
    const job = aClaimedJob({
      failures: 1,
      retry: { kind: 'exponential', baseMs: 100, factor: 3, maxMs: 9_999, jitter: 'full' },
    });
    const made = aTransition(job, FAIL, { limits: DEFAULT_LIMITS, random: new FixedRandom(0.5) });
    expect(made.decision).toMatchObject({
      state: 'FAILED',
      failures: 2,
      due: { kind: 'after', delayMs: 150 },
      ends: { outcome: 'failed', reason: null, error: anAttemptError() },
    });
  });

  it('counts a failure and forgives lapses in a row and crashes', () => {
    const job = aClaimedJob({ lapses: 7, lapsesInRow: 7, crashes: 3 });
    expect(decide(job, FAIL)).toMatchObject({ failures: 1, lapses: 7, lapsesInRow: 0, crashes: 0 });
  });

  it('runs exactly `maxAttempts` times before it is DEAD, exhausted', () => {
    const ends = [0, 1, 2].map((failures) => decide(aClaimedJob({ maxAttempts: 3, failures }), FAIL));
    expect(ends.map(({ state }) => state)).toEqual(['FAILED', 'FAILED', 'DEAD']);
    expect(ends[2]).toMatchObject({ failures: 3, due: 'keep', ends: { reason: 'exhausted' } });
  });

  it('is DEAD at once when it can never succeed, whatever the budget', () => {
    expect(decide(aClaimedJob(), { ...FAIL, retryable: false })).toMatchObject({
      state: 'DEAD',
      failures: 1,
      lastError: anAttemptError(),
      ends: { outcome: 'failed', reason: 'non-retryable' },
    });
  });

  it('lapses never use up the budget of failures', () => {
    const job = aClaimedJob({ maxAttempts: 2, lapses: 100 });
    expect(decide(job, FAIL).state).toBe('FAILED');
  });
});

describe('snooze', () => {
  it('waits as long as asked, and is no failure', () => {
    const job = aClaimedJob({ failures: 2, lapsesInRow: 2, crashes: 1 });
    expect(decide(job, SNOOZE)).toMatchObject({
      state: 'SCHEDULED',
      due: { kind: 'after', delayMs: 5_000 },
      failures: 2,
      snoozes: 1,
      lapsesInRow: 0,
      crashes: 0,
    });
  });

  it.each([0, -5, 999])('of %p ms is lengthened to a second, so that a handler cannot spin', (delayMs) => {
    expect(decide(aClaimedJob(), { ...SNOOZE, delayMs }).due).toEqual({ kind: 'after', delayMs: 1_000 });
  });

  it('the thousandth is granted, the next one is the end', () => {
    expect(decide(aClaimedJob({ snoozes: 999 }), SNOOZE)).toMatchObject({ state: 'SCHEDULED', snoozes: 1_000 });
    expect(decide(aClaimedJob({ snoozes: 1_000 }), SNOOZE)).toMatchObject({
      state: 'DEAD',
      snoozes: 1_001,
      due: 'keep',
      ends: { outcome: 'snoozed', reason: 'snooze-limit' },
    });
  });
});

describe('release', () => {
  it('costs neither a failure nor a lapse', () => {
    const job = aClaimedJob({ failures: 1, lapses: 2, lapsesInRow: 2, crashes: 1, snoozes: 1 });
    expect(decide(job, RELEASE)).toMatchObject({
      state: 'PENDING',
      due: { kind: 'now' },
      failures: 1,
      lapses: 2,
      lapsesInRow: 2,
      crashes: 1,
      snoozes: 1,
      ends: { outcome: 'released', reason: 'shutdown', startedAfterMs: null },
    });
  });
});

describe('lapse', () => {
  /** Lapses a job again and again as a store would write it down, and tells where each lapse led. */
  function lapseInRow(times: number, alone: (lapse: number) => boolean): Decision[] {
    let job: ClaimedJob = aClaimedJob();
    return Array.from({ length: times }, (_, index) => {
      job = { ...job, claim: aClaim({ alone: alone(index + 1) }) };
      const decision = decide(job, LAPSE);
      const { failures, lapses, lapsesInRow, crashes, snoozes } = decision;
      job = { ...job, failures, lapses, lapsesInRow, crashes, snoozes };
      return decision;
    });
  }

  it('says who took the job and why, and is no failure', () => {
    expect(decide(aClaimedJob({ failures: 1 }), LAPSE)).toMatchObject({
      state: 'PENDING',
      due: { kind: 'now' },
      failures: 1,
      lapses: 1,
      lapsesInRow: 1,
      ends: { outcome: 'lapsed', reason: 'worker-gone', reclaimedBy: 'reaper-1', startedAfterMs: null, error: null },
    });
  });

  it('six in a row go back to the others, the seventh and each further one wait in quarantine, doubling to a minute', () => {
    const walk = lapseInRow(16, () => false);
    expect(walk.slice(0, 6).map(({ state, due }) => [state, due])).toEqual(
      Array.from({ length: 6 }, () => ['PENDING', { kind: 'now' }]),
    );
    expect(walk.slice(6).map(({ state }) => state)).toEqual(Array.from({ length: 10 }, () => 'SCHEDULED'));
    expect(
      walk.slice(6).map(({ due }) => (typeof due === 'object' && due.kind === 'after' ? due.delayMs : null)),
    ).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000]);
  });

  it('beside others never makes a job DEAD, however often: a neighbour is not to blame', () => {
    const walk = lapseInRow(200, () => false);
    expect(walk.at(-1)).toMatchObject({ state: 'SCHEDULED', crashes: 0, lapses: 200 });
    expect(walk.some(({ state }) => state === 'DEAD')).toBe(false);
  });

  it('alone counts to the crash budget: the eighth is the end', () => {
    const walk = lapseInRow(14, (lapse) => lapse > 6);
    expect(walk.slice(6, 13).map(({ state }) => state)).toEqual(Array.from({ length: 7 }, () => 'SCHEDULED'));
    expect(walk[13]).toMatchObject({
      state: 'DEAD',
      due: 'keep',
      crashes: 8,
      failures: 0,
      ends: { outcome: 'lapsed', reason: 'crash-loop', reclaimedBy: 'reaper-1' },
    });
  });

  it('a success, a failure or a snooze in between starts both counts anew', () => {
    const job = aClaimedJob({ lapsesInRow: 20, crashes: 7, claim: aClaim({ alone: true }) });
    for (const event of [SUCCEED, FAIL, SNOOZE]) {
      expect(decide(job, event)).toMatchObject({ lapsesInRow: 0, crashes: 0 });
    }
  });
});

describe('cancel', () => {
  it.each(['PENDING', 'SCHEDULED', 'FAILED'] as const)('ends a job that is %s', (state) => {
    expect(decide(aJob({ state, attempt: 2 }), { kind: 'cancel' })).toMatchObject({
      state: 'CANCELLED',
      cancelRequest: 'ask',
      ends: null,
    });
  });

  it('of a running job only asks, and the run goes on', () => {
    const made = aTransition(aClaimedJob(), { kind: 'cancel' });
    expect(made.decision).toMatchObject({ state: 'RUNNING', cancelRequest: 'ask', ends: null });
    expect(made.underCancel).toBeNull();
  });
});

describe('a run whose cancel was asked for', () => {
  it('may still succeed', () => {
    expect(aTransition(aClaimedJob(), SUCCEED).underCancel).toBeNull();
  });

  it.each([
    ['failure', FAIL],
    ['last failure', { ...FAIL, retryable: false } as JobEvent],
    ['snooze', SNOOZE],
    ['release', RELEASE],
    ['lapse', LAPSE],
    ['stop', CANCELLED],
  ])('ends CANCELLED by every other exit: a %s', (_, event) => {
    const made = aTransition(aClaimedJob(), event);
    expect(made.underCancel).toMatchObject({ state: 'CANCELLED', due: 'keep', ends: { outcome: 'cancelled' } });
  });

  it('keeps the error and the counts of the exit that it took', () => {
    const job = aClaimedJob({ failures: 1 });
    expect(aTransition(job, FAIL).underCancel).toMatchObject({
      failures: 2,
      lastError: anAttemptError(),
      ends: { error: anAttemptError() },
    });
    expect(aTransition(job, LAPSE).underCancel).toMatchObject({
      lapses: 1,
      ends: { reclaimedBy: 'reaper-1', reason: 'worker-gone' },
    });
  });

  it('is no alternative for a job that does not run', () => {
    expect(aTransition(aJob({ state: 'FAILED' }), { kind: 'due' }).underCancel).toBeNull();
  });
});

describe('retry', () => {
  const spent: Partial<Job> = { attempt: 9, failures: 5, lapses: 3, lapsesInRow: 8, crashes: 8, snoozes: 1_001 };

  it.each(['DEAD', 'CANCELLED'] as const)(
    'of a job that is %s clears every budget and the cancel, never the attempt',
    (state) => {
      expect(decide(aJob({ state, ...spent }), { kind: 'retry' })).toMatchObject({
        ...NO_COUNTS,
        state: 'PENDING',
        due: { kind: 'now' },
        attempt: 9,
        cancelRequest: 'clear',
      });
    },
  );

  it.each(['SCHEDULED', 'FAILED'] as const)('of a job that is %s only makes it due now', (state) => {
    const { attempt, ...counts } = spent;
    expect(decide(aJob({ state, ...spent }), { kind: 'retry' })).toMatchObject({
      ...counts,
      attempt,
      state: 'PENDING',
      due: { kind: 'now' },
      cancelRequest: 'keep',
    });
  });
});

describe('Transition', () => {
  const genuine = aTransition(aClaimedJob(), SUCCEED, TEST_RULES);

  it('is told apart from everything that only looks like one', () => {
    expect(Transition.isGenuine(genuine)).toBe(true);
    const lookalikes: unknown[] = [
      Object.fromEntries(Object.entries(genuine)),
      structuredClone(genuine),
      Object.assign(Object.create(Transition.prototype), genuine),
      null,
      undefined,
      'transition',
      Transition,
    ];
    for (const lookalike of lookalikes) expect(Transition.isGenuine(lookalike)).toBe(false);
  });

  it('cannot be constructed by anybody else, not even through a genuine one', () => {
    const constructor = genuine.constructor as new (...fields: unknown[]) => unknown;
    expect(() => new constructor(genuine)).toThrow(TypeError);
    expect(() => Reflect.construct(Transition, [genuine])).toThrow(TypeError);
  });

  it('cannot be changed once it is made', () => {
    expect(() => Object.assign(genuine, { jobId: 'another' })).toThrow(TypeError);
    expect(() => Object.assign(genuine.decision, { state: 'PENDING' })).toThrow(TypeError);
    const fails = aTransition(aClaimedJob(), FAIL);
    expect(() => Object.assign(fails.underCancel!, { state: 'PENDING' })).toThrow(TypeError);
  });

  it('cannot be changed in any of its parts', () => {
    const succeed = { kind: 'succeed', result: '1', startedAfterMs: 0, effects: ['mail'] } as const;
    for (const made of [aTransition(aClaimedJob(), FAIL), aTransition(aClaimedJob(), succeed)]) {
      expect(changeableParts(made)).toEqual([]);
    }
  });

  it('keeps its own list of effects, whatever becomes of the one it was given', () => {
    const effects = ['mail'];
    const made = aTransition(aClaimedJob(), { kind: 'succeed', result: '1', startedAfterMs: 0, effects });
    effects.push('letter');
    expect(made.effects).toEqual(['mail']);
  });
});

/** Where something inside could be changed. A Date cannot be protected, and the lists of an error's causes and issues decide nothing. */
function changeableParts(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null || value instanceof Date) return [];
  const parts = Object.entries(value).filter(([name]) => name !== 'causes' && name !== 'issues');
  const inside = parts.flatMap(([name, part]) => changeableParts(part, `${path}/${name}`));
  return Object.isFrozen(value) ? inside : [path, ...inside];
}
