import { SeededRandom } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { STRATA } from '../run/lives.js';
import { KillPlan } from './kill-plan.js';

const OPTIONS = { aim: 0.3, runMs: 3_000 };
const BOOT_MS = 2_000;

/** Enough for what was seen to count. */
const OVER = 100_000;

const planOf = (seed: number): KillPlan => new KillPlan(new SeededRandom(seed), OPTIONS);

const deathsOf = (plan: KillPlan, count: number, rate = OPTIONS.aim): ReturnType<KillPlan['next']>[] =>
  Array.from({ length: count }, () => plan.next({ over: OVER, interrupted: rate * OVER, bootMs: BOOT_MS }));

const meanAgeMs = (rate?: number): number =>
  deathsOf(planOf(7), 600, rate).reduce((sum, { ageMs }) => sum + ageMs, 0) / 600;

describe('a plan of deaths', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(deathsOf(planOf(1), 50)).toEqual(deathsOf(planOf(1), 50));
    expect(deathsOf(planOf(1), 50)).not.toEqual(deathsOf(planOf(2), 50));
  });

  it('meets every place before it comes to one again', () => {
    const places = deathsOf(planOf(1), 2 * STRATA.length).map(({ stratum }) => stratum);
    expect(new Set(places.slice(0, STRATA.length)).size).toBe(STRATA.length);
    expect(new Set(places.slice(STRATA.length)).size).toBe(STRATA.length);
  });

  it('shortens lives when too few runs are interrupted, and lengthens them when too many are', () => {
    expect(meanAgeMs(0.2)).toBeLessThan(meanAgeMs());
    expect(meanAgeMs(0.4)).toBeGreaterThan(meanAgeMs());
  });

  it('is not led astray by the first deaths', () => {
    const early = (interrupted: number): number => planOf(5).next({ over: 64, interrupted, bootMs: BOOT_MS }).ageMs;
    expect(early(64)).toBeLessThan(1.5 * early(20));
  });

  it('never lets workers die before they run anything, nor live for ever', () => {
    for (const { ageMs } of deathsOf(planOf(3), 600, 0)) expect(ageMs).toBeGreaterThan(BOOT_MS + 1_000);
    for (const { ageMs } of deathsOf(planOf(3), 600, 1)) expect(ageMs).toBeLessThan(60_000);
  });

  it('lets a life of n mean runs be as long as the share 1 / (n + 1) asks for', () => {
    expect(meanAgeMs()).toBeGreaterThan(BOOT_MS + 0.95 * 7_000);
    expect(meanAgeMs()).toBeLessThan(BOOT_MS + 1.05 * 7_000);
  });
});
