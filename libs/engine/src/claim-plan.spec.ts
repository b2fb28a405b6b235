import { describe, expect, it } from '@jest/globals';
import { planClaim } from './claim-plan.js';
import type { ClaimPlan, ClaimSituation } from './claim-plan.js';

const PACE = { maxClaim: 500, idleAtLeastEveryMs: 5_000, idleEveryMs: 1_000 };

/** Eight free slots, nothing known of any job, and the last idle claim a moment ago. */
const CALM: ClaimSituation = {
  nowMs: 100_000,
  slots: 8,
  queued: 0,
  held: 0,
  ticketed: 0,
  ahead: 0,
  lastIdleClaimAtMs: 99_900,
  nextIdleClaimAtMs: 100_900,
  isIdleClaimFull: false,
  areTicketsStale: false,
  isAloneRunning: false,
  drainsUntilMs: null,
};

describe('planClaim', () => {
  it.each<[string, Partial<ClaimSituation>, ClaimPlan]>([
    ['waits until the next idle claim when there is nothing to do', {}, { kind: 'wait', forMs: 900 }],
    [
      'looks up once a second however far the next idle claim is',
      { nextIdleClaimAtMs: 200_000 },
      { kind: 'wait', forMs: 1_000 },
    ],
    ['claims by ticket as many as there are free slots', { ticketed: 100 }, { kind: 'tickets', limit: 8 }],
    ['counts what is held against the slots', { ticketed: 100, held: 5 }, { kind: 'tickets', limit: 3 }],
    ['claims nothing when all slots are taken', { ticketed: 100, held: 8 }, { kind: 'wait', forMs: 1_000 }],
    [
      'claims nothing when more is held than there are slots',
      { ticketed: 100, held: 9 },
      { kind: 'wait', forMs: 1_000 },
    ],
    ['claims ahead what ends in about a second', { ticketed: 100, held: 8, ahead: 20 }, { kind: 'tickets', limit: 20 }],
    [
      'claims ahead again when half of that is used up',
      { ticketed: 100, held: 18, queued: 10, ahead: 20 },
      { kind: 'tickets', limit: 10 },
    ],
    [
      'waits while more than half of what was claimed ahead is left',
      { ticketed: 100, held: 19, queued: 11, ahead: 20 },
      { kind: 'wait', forMs: 1_000 },
    ],
    [
      'claims nothing while a settlement of everything held is on its way',
      { ticketed: 100, held: 28, ahead: 20 },
      { kind: 'wait', forMs: 1_000 },
    ],
    ['never claims more than a statement takes', { ticketed: 9_999, ahead: 2_000 }, { kind: 'tickets', limit: 500 }],
    ['claims without a ticket when its time has come', { nextIdleClaimAtMs: 100_000 }, { kind: 'idle', limit: 8 }],
    ['prefers tickets to an idle claim', { ticketed: 1, nextIdleClaimAtMs: 0 }, { kind: 'tickets', limit: 8 }],
    [
      'claims idle after five seconds although tickets flow',
      { ticketed: 100, lastIdleClaimAtMs: 95_000 },
      { kind: 'idle', limit: 8 },
    ],
    [
      'claims by ticket until those five seconds are over',
      { ticketed: 100, lastIdleClaimAtMs: 95_001 },
      { kind: 'tickets', limit: 8 },
    ],
    [
      'claims idle after one second already when the last idle claim could not take all it found',
      { ticketed: 100, lastIdleClaimAtMs: 99_000, isIdleClaimFull: true },
      { kind: 'idle', limit: 8 },
    ],
    [
      'claims by ticket until that second is over',
      { ticketed: 100, lastIdleClaimAtMs: 99_001, isIdleClaimFull: true },
      { kind: 'tickets', limit: 8 },
    ],
    [
      'claims idle at once when more waits and the tickets are stale',
      { ticketed: 100, isIdleClaimFull: true, areTicketsStale: true },
      { kind: 'idle', limit: 8 },
    ],
    [
      'goes on through stale tickets while nothing else waits',
      { ticketed: 100, areTicketsStale: true },
      { kind: 'tickets', limit: 8 },
    ],
    [
      'claims nothing beside a job that runs alone',
      { ticketed: 100, held: 1, isAloneRunning: true },
      { kind: 'wait', forMs: 1_000 },
    ],
    [
      'claims nothing beside it although its own time for quarantine goes on',
      { held: 1, isAloneRunning: true, drainsUntilMs: 101_000 },
      { kind: 'wait', forMs: 1_000 },
    ],
    [
      'waits for empty slots when it makes room for quarantine',
      { ticketed: 100, held: 1, drainsUntilMs: Infinity },
      { kind: 'wait', forMs: 1_000 },
    ],
    ['claims from quarantine as soon as nothing is held', { ticketed: 100, drainsUntilMs: 101_000 }, { kind: 'alone' }],
    [
      'claims as ever when the time for quarantine is over',
      { ticketed: 100, drainsUntilMs: 100_000 },
      { kind: 'tickets', limit: 8 },
    ],
  ])('%s', (_title, situation, plan) => {
    expect(planClaim({ ...CALM, ...situation }, PACE)).toEqual(plan);
  });

  it('never waits for no time at all, which would spin', () => {
    for (let nextIdleClaimAtMs = 100_000; nextIdleClaimAtMs < 100_010; nextIdleClaimAtMs += 0.5) {
      const plan = planClaim({ ...CALM, nextIdleClaimAtMs }, PACE);
      expect(plan.kind === 'idle' || (plan.kind === 'wait' && plan.forMs > 0)).toBe(true);
    }
  });
});
