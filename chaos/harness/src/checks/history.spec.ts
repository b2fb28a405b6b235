import { describe, expect, it } from '@jest/globals';
import { LIVING } from './doctored.contract.js';
import { addLine, emptyHistory } from './history.js';
import type { History } from './history.js';

const LEASE = { jobId: 'a', workerId: 'incarnation', attempt: 1, token: 'token' };

function historyOf(...lines: readonly (object | string)[]): History {
  const history = emptyHistory();
  for (const line of lines) addLine(history, typeof line === 'string' ? line : JSON.stringify(line), LIVING);
  return history;
}

describe('a history', () => {
  it('tells of claims with their tokens, of starts and of ends', () => {
    const ref = { jobId: 'a', attempt: 1 };
    const { claims, starts, endings } = historyOf(
      { at: 1, kind: 'opened', pid: 1, instance: 'worker-1' },
      { at: 2, kind: 'jobs-claimed', by: 'idle', count: 1, leases: [LEASE] },
      { at: 3, kind: 'attempt-started', waitedMs: 7, ...ref },
      { at: 4, kind: 'attempt-settled', outcome: 'succeeded', ...ref },
    );
    expect(claims).toEqual([{ ...LEASE, at: 2, life: LIVING }]);
    expect(starts).toEqual([{ ...ref, at: 3, life: LIVING, waitedMs: 7 }]);
    expect(endings).toEqual([{ ...ref, at: 4, life: LIVING, outcome: 'succeeded' }]);
  });

  it('takes a reclaim for what it is: the end of an attempt, told to a reaper', () => {
    const { endings } = historyOf({ at: 1, kind: 'job-reclaimed', jobId: 'a', attempt: 3, state: 'PENDING' });
    expect(endings).toMatchObject([{ jobId: 'a', attempt: 3, outcome: 'lapsed' }]);
  });

  it('counts what was refused and what gave itself up', () => {
    const { fenced, lost } = historyOf({ kind: 'write-fenced' }, { kind: 'write-fenced' }, { kind: 'run-lost' });
    expect([fenced, lost]).toEqual([2, 1]);
  });

  it('leaves out the half line of a process that was killed while it wrote', () => {
    expect(historyOf('{"at":1,"kind":"attempt-sta', '')).toEqual(emptyHistory());
  });
});
