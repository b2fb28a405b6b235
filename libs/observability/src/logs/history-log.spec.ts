import type { EngineEvent } from '@deadman/domain';
import { FakeClock } from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HistoryLog } from './history-log.js';

const INFO = { service: 'worker', instance: 'worker-1', version: '1.0.0' };
const LEASE = { jobId: 'job-1', workerId: 'incarnation-1', attempt: 1, token: 'token-1' };
const JOB = { jobId: 'job-1', type: 'a', queue: 'default', attempt: 1 };

describe('HistoryLog', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'history-'));
    file = join(folder, 'not', 'there', 'yet.ndjson');
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const lines = (): object[] => {
    const text = readFileSync(file, 'utf8');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as object]));
  };

  it('says whose life it is, and then what happens to jobs, each line at once', () => {
    const clock = new FakeClock();
    const history = new HistoryLog(file, INFO, clock);
    const at = clock.now().getTime();
    expect(lines()).toEqual([{ at, kind: 'opened', pid: process.pid, ...INFO }]);
    history.emit({ kind: 'jobs-claimed', by: 'idle', count: 1, leases: [LEASE] });
    expect(lines().at(-1)).toEqual({ at, kind: 'jobs-claimed', by: 'idle', count: 1, leases: [LEASE] });
    history.emit({ kind: 'attempt-started', waitedMs: 3, ...JOB });
    expect(lines().at(-1)).toEqual({ at, kind: 'attempt-started', waitedMs: 3, ...JOB });
  });

  it('goes on behind what an earlier life has written', () => {
    for (let life = 0; life < 2; life += 1) new HistoryLog(file, INFO, new FakeClock());
    expect(lines()).toHaveLength(2);
  });

  it('keeps neither errors nor what tells of no job', () => {
    const history = new HistoryLog(file, INFO, new FakeClock());
    const error = { name: 'Error', code: null, message: 'a secret', stack: null, causes: [] } as never;
    const outcome = { outcome: 'failed', state: 'FAILED', ranMs: 1, endToEndMs: null, reason: null } as const;
    const settled: EngineEvent = { kind: 'attempt-settled', ...outcome, ...JOB, error };
    const others: EngineEvent[] = [
      { kind: 'loop-turned', loop: 'claim' },
      { kind: 'leases-renewed', result: 'renewed', count: 5 },
    ];
    for (const event of [settled, ...others]) history.emit(event);
    expect(lines().slice(1)).toMatchObject([{ kind: 'attempt-settled', outcome: 'failed' }]);
    expect(readFileSync(file, 'utf8')).not.toContain('secret');
  });
});
