import { DeadmanError } from '@deadman/domain';
import type { JobStore, ProgressUpdate } from '@deadman/domain';
import { aClaimedJob, deferred, FakeClock, RecordingEvents, settle } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { MAX_PROGRESS_BYTES, ProgressWriter } from './progress-writer.js';
import { Run } from './run.js';

const EVERY_MS = 500;

describe('ProgressWriter', () => {
  let clock: FakeClock;
  let events: RecordingEvents;
  let writes: (readonly ProgressUpdate[])[];
  let gate: Promise<void>;
  let writer: ProgressWriter;

  beforeEach(() => {
    clock = new FakeClock();
    events = new RecordingEvents();
    writes = [];
    gate = Promise.resolve();
    const saveProgress = async (updates: readonly ProgressUpdate[]): Promise<void> => {
      writes.push(updates);
      await gate;
    };
    writer = new ProgressWriter({ store: { saveProgress } as unknown as JobStore, clock, events }, EVERY_MS);
  });

  function aRunningRun(): Run {
    const run = new Run(aClaimedJob(), 0);
    run.phase = 'running';
    return run;
  }

  const values = (): readonly (readonly string[])[] => writes.map((updates) => updates.map(({ value }) => value));

  it('writes the latest word of every run together, once a period', async () => {
    const [a, b] = [aRunningRun(), aRunningRun()];
    for (let percent = 1; percent <= 100; percent += 1) writer.record(a, percent);
    writer.record(b, 'half');
    await clock.advance(EVERY_MS - 1);
    expect(writes).toEqual([]);
    await clock.advance(1);
    expect(values()).toEqual([['100', '"half"']]);
    expect(writes[0]![0]).toMatchObject({ jobId: a.job.id, attempt: a.job.attempt, token: a.job.claim.token });
    expect(clock.pendingTimers).toBe(0);
  });

  it('writes what a run said last before its claim ends, and leaves no timer behind', async () => {
    const run = aRunningRun();
    writer.record(run, 1);
    await writer.finish(run);
    expect(values()).toEqual([['1']]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('lets a run end only when its word is no longer on the way', async () => {
    const open = deferred();
    gate = open.promise;
    const run = aRunningRun();
    writer.record(run, 1);
    await clock.advance(EVERY_MS);
    let isFinished = false;
    const finishing = writer.finish(run).then(() => (isFinished = true));
    await settle();
    expect(isFinished).toBe(false);
    open.resolve();
    await finishing;
    expect(values()).toEqual([['1']]);
  });

  it('never has two writes under way, so that an older value cannot overtake a newer one', async () => {
    const open = deferred();
    gate = open.promise;
    const [a, b, c] = [aRunningRun(), aRunningRun(), aRunningRun()];
    writer.record(a, 1);
    const all = [writer.finish(a)];
    await settle();
    writer.record(b, 2);
    all.push(writer.finish(b));
    writer.record(c, 3);
    all.push(writer.finish(c));
    await settle();
    expect(values()).toEqual([['1']]);
    open.resolve();
    await Promise.all(all);
    expect(values()).toEqual([['1'], ['2', '3']]);
  });

  it('does not make a run wait that said nothing', async () => {
    const open = deferred();
    gate = open.promise;
    const talking = aRunningRun();
    writer.record(talking, 1);
    void writer.finish(talking);
    await expect(writer.finish(aRunningRun())).resolves.toBeUndefined();
    open.resolve();
  });

  it('listens to nobody whose handler is not running', async () => {
    const run = aRunningRun();
    run.phase = 'settling';
    writer.record(run, 1);
    await clock.advance(EVERY_MS);
    expect(writes).toEqual([]);
  });

  it('drops what a store that is away cannot take, and goes on', async () => {
    const error = new DeadmanError('store-unavailable');
    gate = Promise.reject(error);
    const run = aRunningRun();
    writer.record(run, 1);
    await writer.finish(run);
    expect(events.all).toEqual([{ kind: 'loop-failed', loop: 'progress', error }]);
    gate = Promise.resolve();
    writer.record(run, 2);
    await writer.flush();
    expect(values().at(-1)).toEqual(['2']);
  });

  it('tells the handler of a value that cannot be shown', () => {
    const run = aRunningRun();
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const value of [undefined, () => 1, 1n, circular, 'x'.repeat(MAX_PROGRESS_BYTES)]) {
      expect(() => writer.record(run, value)).toThrow(TypeError);
    }
    expect(() => writer.record(run, 'x'.repeat(MAX_PROGRESS_BYTES - 2))).not.toThrow();
  });
});
