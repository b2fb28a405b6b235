import { beforeEach, describe, expect, it } from '@jest/globals';
import { GroupWatch } from './group-watch.js';

const TOPICS = ['jobs.ready', 'jobs.ready.mail'];

describe('GroupWatch', () => {
  let watch: GroupWatch;
  let joined: number;

  beforeEach(() => {
    joined = 0;
    watch = new GroupWatch(TOPICS, () => void (joined += 1));
  });

  const assigned = (topic: string, ...partitions: number[]): void =>
    watch.on({ kind: 'partitions-assigned', topic, partitions });

  /** What each check finds wrong, null for nothing. */
  async function faults(): Promise<Record<string, string | null>> {
    const { signal } = new AbortController();
    const entries = watch.checks.map(async ({ name, check }) => {
      const fault = await check(signal).then(
        () => null,
        (error: Error) => error.message,
      );
      return [name, fault] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  it('is content once every group was joined and gave partitions', async () => {
    assigned('jobs.ready', 1);
    expect(await faults()).toMatchObject({ joined: 'never joined the group of jobs.ready.mail' });
    assigned('jobs.ready.mail', 2);
    expect(await faults()).toEqual({ joined: null, consumer: null });
    expect(joined).toBe(2);
  });

  it('is degraded, not unready, while a group rebalances, gives nothing, or is lost', async () => {
    for (const topic of TOPICS) assigned(topic, 1);
    watch.on({ kind: 'rebalance-began', topic: 'jobs.ready' });
    expect(await faults()).toEqual({ joined: null, consumer: 'is not in the group of jobs.ready' });
    assigned('jobs.ready');
    expect(await faults()).toEqual({ joined: null, consumer: 'has no partition of jobs.ready' });
    assigned('jobs.ready', 1, 2);
    expect(await faults()).toEqual({ joined: null, consumer: null });
  });

  it('is degraded while nothing of a topic can be read, until somebody has mended it', async () => {
    for (const topic of TOPICS) assigned(topic, 1);
    const compression = (state: 'readable' | 'mended' | 'unreadable'): void =>
      watch.on({ kind: 'topic-compression', topic: 'jobs.ready', compression: 'lz4', state });
    for (const better of ['readable', 'mended'] as const) {
      compression('unreadable');
      expect(await faults()).toEqual({ joined: null, consumer: 'cannot read the compression of jobs.ready' });
      compression(better);
      expect(await faults()).toEqual({ joined: null, consumer: null });
    }
  });
});
