import { AbortReason } from '@deadman/domain';
import type { Ticket } from '@deadman/domain';
import { aClaimedJob } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { Run } from './run.js';

describe('Run', () => {
  it('keeps the first reason it was aborted for', () => {
    const run = new Run(aClaimedJob(), 0);
    expect(run.abortedBy).toBeNull();
    run.abort('cancelled');
    run.abort('timeout');
    run.abort('shutdown');
    expect(run.abortedBy).toBe('cancelled');
    expect(run.signal.reason).toBeInstanceOf(AbortReason);
  });

  it('is lost whatever it was aborted for before', () => {
    const run = new Run(aClaimedJob(), 0);
    run.abort('shutdown');
    run.lose();
    expect(run.isLost).toBe(true);
    expect(run.signal.aborted).toBe(true);
  });

  it('tells its handler of a lost lease', () => {
    const run = new Run(aClaimedJob(), 0);
    run.lose();
    expect(run.abortedBy).toBe('lease-lost');
  });

  it('counts a start from the claim, and a run from its start', () => {
    const run = new Run(aClaimedJob(), 1_000);
    expect([run.startedAfterMs, run.ranMs]).toEqual([null, 0]);
    run.startedAtMs = 1_250;
    run.endedAtMs = 2_000;
    expect([run.startedAfterMs, run.ranMs]).toEqual([250, 750]);
  });

  it('finishes every ticket that named its job', () => {
    const done: string[] = [];
    const ticket = (name: string): Ticket => ({
      queue: 'default',
      jobIds: [],
      claimed: () => undefined,
      done: (id) => done.push(`${name} ${id}`),
    });
    const job = aClaimedJob();
    const run = new Run(job, 0, [ticket('first'), ticket('second')]);
    run.finish();
    expect(done).toEqual([`first ${job.id}`, `second ${job.id}`]);
    expect(run.phase).toBe('gone');
  });

  it('is told apart from another claim of the same job, and from another job of the same claim', () => {
    const job = aClaimedJob();
    const keys = [
      new Run(job, 0).key,
      new Run({ ...job, claim: { ...job.claim, token: 'another' } }, 0).key,
      new Run({ ...job, id: 'another' }, 0).key,
    ];
    expect(new Set(keys).size).toBe(3);
  });
});
