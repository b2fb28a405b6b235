import { describe, expect, it } from '@jest/globals';
import { LeaseSightings } from './lease-sightings.js';

describe('LeaseSightings', () => {
  it('tells how long ago a claim was last seen, and null for one that never was', () => {
    const sightings = new LeaseSightings();
    sightings.see('a', 100);
    sightings.see('a', 300);
    expect(sightings.ageMs('a', 1_000)).toBe(700);
    expect(sightings.ageMs('b', 1_000)).toBeNull();
  });

  it('forgets what is older than asked, and nothing else', () => {
    const sightings = new LeaseSightings();
    sightings.see('a', 0);
    sightings.see('b', 500);
    sightings.see('a', 800);
    sightings.prune(1_000, 400);
    expect([sightings.ageMs('a', 1_000), sightings.ageMs('b', 1_000)]).toEqual([200, null]);
  });

  it('keeps what is exactly as old as asked', () => {
    const sightings = new LeaseSightings();
    sightings.see('a', 0);
    sightings.prune(400, 400);
    expect(sightings.ageMs('a', 400)).toBe(400);
  });

  it('is bounded: of too many, the oldest are forgotten', () => {
    const sightings = new LeaseSightings();
    for (let claim = 0; claim <= 100_000; claim += 1) sightings.see(String(claim), claim);
    sightings.prune(100_000, Infinity);
    expect([sightings.ageMs('0', 100_000), sightings.ageMs('1', 100_000)]).toEqual([null, 99_999]);
  });
});
