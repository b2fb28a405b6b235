import type { Belief, ClaimedJob } from '@deadman/domain';
import { aClaimedJob, deferred, FakeClock, RecordingEvents, settle as nextTurns } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Orphans } from './orphans.js';
import { RunLedger } from './run-ledger.js';
import { Run } from './run.js';

describe('Orphans', () => {
  let clock: FakeClock;
  let events: RecordingEvents;
  let ledger: RunLedger;
  let asked: string[];
  let answer: () => Promise<readonly ClaimedJob[]>;
  let settle: () => Promise<void>;
  let settled: unknown[];
  let orphans: Orphans;

  beforeEach(() => {
    clock = new FakeClock();
    events = new RecordingEvents();
    ledger = new RunLedger(() => {});
    asked = [];
    settled = [];
    settle = async () => {};
    orphans = new Orphans({
      store: {
        findClaimed: (token) => {
          asked.push(token);
          return answer();
        },
      },
      ledger,
      settler: {
        settle: (run, event) => {
          settled.push([run.job.id, event]);
          return settle();
        },
      },
      clock,
      events,
    });
  });

  const beliefIn = ({ id, attempt, claim: { token } }: ClaimedJob): Belief => ({
    jobId: id,
    attempt,
    token,
    cancelRequested: false,
  });

  const release = { kind: 'release', reason: 'orphan-claim', startedAfterMs: null };

  it('are released as the store has them, for nobody to be blamed', async () => {
    const job = aClaimedJob();
    answer = async () => [job];
    orphans.found([beliefIn(job)]);
    await orphans.released();
    expect(settled).toEqual([[job.id, release]]);
    expect(events.of('orphan-released')).toEqual([{ kind: 'orphan-released', jobId: job.id, attempt: job.attempt }]);
  });

  it('are asked for once as long as they are being released, and again when they are found after that', async () => {
    const [job, written] = [aClaimedJob(), deferred()];
    answer = async () => [job];
    settle = () => written.promise;
    orphans.found([beliefIn(job), beliefIn(job)]);
    orphans.found([beliefIn(job)]);
    let isReleased = false;
    const released = orphans.released().then(() => (isReleased = true));
    await nextTurns();
    expect([asked, isReleased]).toEqual([[job.claim.token], false]);
    written.resolve();
    await released;
    orphans.found([beliefIn(job)]);
    await orphans.released();
    expect(asked).toHaveLength(2);
  });

  it('are none of a claim whose reply is out', async () => {
    const job = aClaimedJob();
    answer = async () => [job];
    ledger.beginClaim(job.claim.token);
    orphans.found([beliefIn(job)]);
    await orphans.released();
    expect(asked).toEqual([]);
  });

  it('are none that were held when the store was asked, though they are settled when it answers', async () => {
    const [job, reply] = [aClaimedJob(), deferred<readonly ClaimedJob[]>()];
    const run = new Run(job, 0);
    answer = () => reply.promise;
    ledger.add([run]);
    orphans.found([beliefIn(job)]);
    ledger.drop(run);
    reply.resolve([job]);
    await orphans.released();
    expect(settled).toEqual([]);
  });

  it('wait for the next beat when the store is away', async () => {
    const [unlucky, job] = [aClaimedJob(), aClaimedJob()];
    answer = async () => {
      if (asked.length === 1) throw new Error('away');
      return [job];
    };
    orphans.found([beliefIn(unlucky), beliefIn(job)]);
    await orphans.released();
    expect(events.of('loop-failed')).toMatchObject([{ loop: 'release-orphans' }]);
    expect(settled).toEqual([[job.id, release]]);
  });
});
