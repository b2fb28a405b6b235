import { DeadmanError } from '@deadman/domain';
import { HealthRegistry } from '@deadman/observability';
import type { Logger } from '@deadman/observability';
import { FakeClock, settle } from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TopicsWatch } from './topics-watch.js';

const NARROW = new DeadmanError('configuration-invalid', 'topic jobs.ready has 4 partitions where 12 are configured');
const AWAY = new DeadmanError('transport-unavailable', 'no broker answers');

describe('TopicsWatch', () => {
  let clock: FakeClock;
  let health: HealthRegistry;
  let errors: unknown[];
  let finding: Error | null;
  let looks: number;
  let stop: AbortController;
  let watch: TopicsWatch;
  let watching: Promise<void>;

  beforeEach(async () => {
    clock = new FakeClock();
    health = new HealthRegistry({ service: 'api', instance: 'api', version: '0' }, clock);
    errors = [];
    finding = null;
    looks = 0;
    stop = new AbortController();
    const logger = { error: (fields: unknown) => void errors.push(fields) } as unknown as Logger;
    watch = new TopicsWatch({ clock, logger, health });
    health.add(watch.check);
    await health.recheck();
  });

  afterEach(async () => {
    stop.abort();
    await watching;
    expect(clock.pendingTimers).toBe(0);
  });

  async function begin(found: Error | null): Promise<void> {
    finding = found;
    const look = async (): Promise<void> => {
      looks += 1;
      if (finding !== null) throw finding;
    };
    watching = watch.watch(look, stop.signal);
    await settle();
  }

  /** How its check stands, after a failure more: the first may be a hiccup. */
  async function checked(): Promise<object> {
    await health.recheck();
    return health.ready();
  }

  it('looks once at topics that are well', async () => {
    await begin(null);
    await clock.advance(60_000);
    expect([looks, errors]).toEqual([1, []]);
    expect(await checked()).toMatchObject({ status: 'up' });
  });

  it('tells of topics that are made otherwise, in health until they are mended and in the log once', async () => {
    await begin(NARROW);
    await clock.advance(60_000);
    expect(errors).toEqual([{ event: 'kafka.topics-invalid', err: NARROW }]);
    expect(await checked()).toMatchObject({
      status: 'degraded',
      checks: { topics: { status: 'down', critical: false, error: expect.stringContaining('has 4 partitions') } },
    });
    finding = null;
    await clock.advance(10_000);
    expect(health.ready()).toMatchObject({ status: 'up' });
  });

  it('waits for brokers that are away and says nothing of them, then looks', async () => {
    await begin(AWAY);
    await clock.advance(600_000);
    expect([errors, await checked()]).toEqual([[], expect.objectContaining({ status: 'up' })]);
    finding = NARROW;
    await clock.advance(10_000);
    expect(errors).toHaveLength(1);
  });

  it('goes on telling of what it found while the brokers are away', async () => {
    await begin(NARROW);
    finding = AWAY;
    await clock.advance(60_000);
    expect(await checked()).toMatchObject({ status: 'degraded' });
  });
});
