import { SystemIds } from '@deadman/config';
import { describe, expect, it } from '@jest/globals';
import { byPartition, partitionOf } from './partitioner.js';

describe('partitionOf', () => {
  it('never changes: these jobs lie on these partitions in every release', () => {
    const known = {
      '019ad0a4-0000-7000-8000-000000000000': 11,
      '019ad0a4-0000-7000-8000-000000000001': 1,
      '019ad0a4-ffff-7fff-bfff-ffffffffffff': 11,
      '00000000-0000-4000-8000-000000000000': 3,
    };
    const found = Object.fromEntries(Object.keys(known).map((jobId) => [jobId, partitionOf(jobId, 12)]));
    expect(found).toEqual(known);
  });

  it.each([1, 6, 12, 24])('spreads time-ordered ids evenly over %i partitions', (partitions) => {
    const ids = new SystemIds();
    const groups = byPartition(
      Array.from({ length: 24_000 }, () => ids.timeOrdered()),
      partitions,
    );
    const fair = 24_000 / partitions;
    expect(groups.size).toBe(partitions);
    // Five standard deviations of a fair spread: one run in a million fails by chance.
    const slack = 5 * Math.sqrt(fair);
    for (const { length } of groups.values()) expect(Math.abs(length - fair)).toBeLessThan(slack + 1);
  });
});

describe('byPartition', () => {
  it('keeps every id, once, in order, on its own partition', () => {
    const ids = new SystemIds();
    const jobIds = Array.from({ length: 200 }, () => ids.timeOrdered());
    const groups = byPartition(jobIds, 12);
    for (const [partition, group] of groups) {
      expect(group).toEqual(jobIds.filter((jobId) => partitionOf(jobId, 12) === partition));
    }
    expect([...groups.values()].flat().toSorted()).toEqual(jobIds.toSorted());
  });
});
