import { describe, expect, it } from '@jest/globals';
import { RecordingEvents } from './recording-events.js';

describe('RecordingEvents', () => {
  it('resolves at once for what was recorded already, and later for what comes', async () => {
    const events = new RecordingEvents();
    events.emit({ kind: 'loop-turned', loop: 'reaper' });
    expect(await events.until('loop-turned')).toEqual([{ kind: 'loop-turned', loop: 'reaper' }]);

    const two = events.until('loop-turned', { count: 2 });
    events.emit({ kind: 'jobs-purged', jobs: 1 });
    events.emit({ kind: 'loop-turned', loop: 'relay' });
    expect(await two).toHaveLength(2);
  });

  it('waits for an event that a predicate picks', async () => {
    const events = new RecordingEvents();
    const big = events.until((event) => event.kind === 'jobs-purged' && event.jobs > 5);
    events.emit({ kind: 'jobs-purged', jobs: 5 });
    events.emit({ kind: 'jobs-purged', jobs: 6 });
    expect(await big).toEqual([{ kind: 'jobs-purged', jobs: 6 }]);
  });

  it('gives up after its bound and says what it saw instead', async () => {
    const events = new RecordingEvents();
    events.emit({ kind: 'drain-for-quarantine' });
    await expect(events.until('jobs-purged', { withinMs: 1 })).rejects.toThrow('kinds seen: drain-for-quarantine');
  });
});
