import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LIVING } from '../checks/doctored.contract.js';
import type { Life } from '../run/lives.js';
import { KillCount } from './kill-count.js';

describe('the count of a storm', () => {
  let folder: string;
  let life: Life;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'count-'));
    life = { ...LIVING, historyFile: join(folder, 'history') };
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (kind: string, jobId: string): void =>
    appendFileSync(life.historyFile, `${JSON.stringify({ at: 1, kind, jobId, attempt: 1, outcome: 'succeeded' })}\n`);

  it('is of nothing while there is no history', () => {
    const count = new KillCount();
    count.look([life]);
    expect(count.rate).toBeNull();
  });

  it('follows what is written, a half line too', () => {
    const count = new KillCount();
    write('attempt-started', 'a');
    appendFileSync(life.historyFile, '{"at":1,"kind":"attempt-started","jobId":"b",');
    count.look([life]);
    expect(count.started).toBe(1);
    appendFileSync(life.historyFile, '"attempt":1}\n');
    count.look([life]);
    expect(count.started).toBe(2);
  });

  it('counts, once, what was open when a worker was killed', () => {
    const count = new KillCount();
    for (const job of ['a', 'b', 'c']) write('attempt-started', job);
    write('attempt-settled', 'b');
    count.look([life]);
    expect(count.interrupted).toBe(0);
    Object.assign(life, { endedAtMs: 1, wasKilled: true });
    for (let look = 0; look < 2; look += 1) count.look([life]);
    expect([count.started, count.interrupted, count.rate]).toEqual([3, 2, 2 / 3]);
  });

  it('leaves out of the share what is still under way', () => {
    const count = new KillCount();
    for (const job of ['a', 'b', 'c']) write('attempt-started', job);
    write('attempt-settled', 'b');
    count.look([life]);
    expect(count.rate).toBe(0);
  });

  it('tells how long workers take to their first run', () => {
    const count = new KillCount();
    expect(count.bootMs).toBeGreaterThan(0);
    Object.assign(life, { startedAtMs: -1_999 });
    write('attempt-started', 'a');
    count.look([life]);
    expect(count.bootMs).toBe(2_000);
  });

  it('does not take a worker that was stopped for one that was killed', () => {
    const count = new KillCount();
    write('attempt-started', 'a');
    life.endedAtMs = 1;
    count.look([life]);
    expect([count.started, count.interrupted]).toEqual([1, 0]);
  });
});
