import { DeadmanError } from '@deadman/domain';
import { deferred, FakeClock, settle } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import type { HealthCheck } from './background-check.js';
import { HealthRegistry } from './health-registry.js';
import { outboxCheck, storeCheck } from './store-checks.js';

const INFO = { service: 'worker', instance: 'worker-7f2c', version: '1.4.0' };
const START = '2026-01-01T00:00:00.000Z';

/** A dependency that a test takes away and gives back. */
class Dependency implements HealthCheck {
  readonly name: string;
  readonly critical: boolean;
  readonly effect = 'new jobs wait';
  runs = 0;
  answer: () => Promise<void> = async () => {};

  constructor(name: string, critical: boolean) {
    this.name = name;
    this.critical = critical;
  }

  async check(): Promise<void> {
    this.runs += 1;
    await this.answer();
  }

  breakDown(): void {
    this.answer = () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
  }

  mend(): void {
    this.answer = async () => {};
  }
}

interface World {
  readonly clock: FakeClock;
  readonly health: HealthRegistry;
  readonly postgres: Dependency;
  readonly kafka: Dependency;
}

function setUp(): World {
  const clock = new FakeClock(new Date(START));
  const health = new HealthRegistry(INFO, clock);
  const postgres = new Dependency('postgres', true);
  const kafka = new Dependency('kafka', false);
  health.add(postgres);
  health.add(kafka);
  return { clock, health, postgres, kafka };
}

async function started(): Promise<World> {
  const world = setUp();
  await world.health.start();
  return world;
}

describe('HealthRegistry: ready', () => {
  it('is down until every critical check was up once', async () => {
    const { health } = setUp();
    expect(health.ready()).toMatchObject({
      status: 'down',
      checks: { postgres: { status: 'down', error: 'not checked yet' } },
    });
    await health.start();
    expect(health.ready().status).toBe('up');
  });

  it('has the body that operations reads', async () => {
    const { clock, health, kafka } = setUp();
    kafka.breakDown();
    await health.start();
    await clock.advance(2_000);
    expect(health.ready()).toEqual({
      status: 'degraded',
      service: 'worker',
      instance: 'worker-7f2c',
      version: '1.4.0',
      uptimeSeconds: 2,
      checks: {
        postgres: { status: 'up', critical: true, latencyMs: 0, ageMs: 2_000, lastOkAt: START },
        kafka: {
          status: 'down',
          critical: false,
          since: START,
          ageMs: 2_000,
          error: 'ECONNREFUSED',
          effect: 'new jobs wait',
        },
      },
    });
  });

  it('goes down at the second failure in a row, and up at the first success', async () => {
    const { clock, health, postgres } = await started();
    postgres.breakDown();
    await clock.advance(5_000);
    expect(health.ready().status).toBe('up');
    await clock.advance(5_000);
    expect(health.ready()).toMatchObject({
      status: 'down',
      checks: { postgres: { status: 'down', since: '2026-01-01T00:00:10.000Z', lastOkAt: START } },
    });
    postgres.mend();
    await clock.advance(5_000);
    expect(health.ready().status).toBe('up');
  });

  it('is degraded, not down, when a check that is not critical is down', async () => {
    const { clock, health, kafka } = await started();
    kafka.breakDown();
    await clock.advance(10_000);
    expect(health.ready().status).toBe('degraded');
  });

  it('is down from the moment of draining, however well everything is', async () => {
    const { clock, health } = await started();
    await clock.advance(1_000);
    health.drain();
    await clock.advance(1_000);
    expect(health.ready()).toMatchObject({
      status: 'down',
      checks: { shutdown: { status: 'down', critical: true, since: '2026-01-01T00:00:01.000Z', error: 'draining' } },
    });
  });
});

describe('HealthRegistry: checks', () => {
  it('run every five seconds, however often anybody asks', async () => {
    const { clock, health, postgres } = await started();
    for (let probe = 0; probe < 100; probe += 1) health.ready();
    expect(postgres.runs).toBe(1);
    await clock.advance(14_999);
    expect(postgres.runs).toBe(3);
    await clock.advance(1);
    expect(postgres.runs).toBe(4);
  });

  it('count as failed after a second, and are told to stop', async () => {
    const { clock, health, postgres } = await started();
    let signal: AbortSignal | undefined;
    postgres.check = (given?: AbortSignal): Promise<void> => {
      signal = given;
      return new Promise(() => {});
    };
    await clock.advance(6_000);
    expect(signal?.aborted).toBe(true);
    await clock.advance(6_000);
    expect(health.ready().checks['postgres']).toMatchObject({ status: 'down' });
  });

  it('never pile up: while one has not returned, no other is started', async () => {
    const { clock, health, postgres } = await started();
    const stuck = deferred();
    postgres.answer = () => stuck.promise;
    await clock.advance(60_000);
    expect(postgres.runs).toBe(2);
    expect(health.ready().checks['postgres']).toMatchObject({ error: 'the last check has not returned yet' });
    stuck.resolve();
    postgres.mend();
    await clock.advance(5_000);
    expect(health.ready().status).toBe('up');
  });

  it('a check that throws at once is a failure like any other', async () => {
    const { clock, health, postgres } = await started();
    postgres.check = () => {
      throw new Error('bug');
    };
    await clock.advance(10_000);
    expect(health.ready().checks['postgres']).toMatchObject({ status: 'down', error: 'bug' });
  });

  it('look at once when they are told that something has changed', async () => {
    const { health, postgres } = setUp();
    postgres.breakDown();
    await health.start();
    postgres.mend();
    await health.recheck();
    expect(health.ready().status).toBe('up');
  });

  it('stop when the registry stops, and leave no timer behind', async () => {
    const { clock, health, postgres } = await started();
    health.stop();
    await settle();
    await clock.advance(60_000);
    expect(postgres.runs).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('tell of each change once, the first result included', async () => {
    const { clock, health, postgres, kafka } = setUp();
    const changes: string[] = [];
    health.onChange((name, { status }) => void changes.push(`${name} ${status}`));
    kafka.breakDown();
    await health.start();
    expect(changes.toSorted()).toEqual(['kafka down', 'postgres up']);
    postgres.breakDown();
    await clock.advance(30_000);
    postgres.mend();
    await clock.advance(30_000);
    expect(changes.slice(2)).toEqual(['postgres down', 'postgres up']);
  });

  it('of one name twice are a bug', () => {
    const { health } = setUp();
    expect(() => health.add(new Dependency('kafka', true))).toThrow(TypeError);
  });

  it('say in words what a database calls by a number', async () => {
    const { clock, health, postgres } = await started();
    const cause = Object.assign(new Error('password authentication failed for user "deadman"'), { code: '28P01' });
    postgres.answer = () => Promise.reject(new DeadmanError('store-unavailable', undefined, { cause }));
    await clock.advance(10_000);
    expect(health.ready().checks['postgres']).toMatchObject({ error: cause.message });
  });

  it('name the root cause of an error rather than what was made of it', async () => {
    const { clock, health, postgres } = await started();
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    postgres.answer = () => Promise.reject(new DeadmanError('store-unavailable', undefined, { cause }));
    await clock.advance(10_000);
    expect(health.ready().checks['postgres']).toMatchObject({ error: 'ECONNREFUSED' });
  });
});

describe('HealthRegistry: live', () => {
  it('depends on no dependency and not on draining', async () => {
    const { clock, health, postgres } = await started();
    postgres.breakDown();
    health.drain();
    await clock.advance(3_600_000);
    expect(health.live().status).toBe('up');
  });

  it('fails when a watched loop has not turned for its time, and recovers with the next turn', async () => {
    const { clock, health } = await started();
    health.watchLoop('claim', 90_000);
    await clock.advance(90_000);
    expect(health.live().status).toBe('up');
    await clock.advance(1);
    expect(health.live()).toMatchObject({
      status: 'down',
      checks: { claim: { status: 'down', critical: true, error: 'has not turned for 90001 ms' } },
    });
    health.emit({ kind: 'loop-turned', loop: 'claim' });
    expect(health.live().status).toBe('up');
  });

  it('hears the turns of its own loops only', async () => {
    const { clock, health } = await started();
    health.watchLoop('claim', 90_000);
    await clock.advance(90_001);
    health.emit({ kind: 'loop-turned', loop: 'reaper' });
    health.emit({ kind: 'loop-failed', loop: 'claim', error: new Error() });
    expect(health.live().status).toBe('down');
  });

  it('fails for good when a loop has stopped for good', async () => {
    const { health } = await started();
    health.watchLoop('consumer', 120_000);
    health.loopStopped('consumer', 'the consumer gave up');
    health.emit({ kind: 'loop-turned', loop: 'consumer' });
    expect(health.live()).toMatchObject({ status: 'down', checks: { consumer: { error: 'the consumer gave up' } } });
  });
});

describe('HealthRegistry: startup', () => {
  it('is down until the service was ready once, and up ever after', async () => {
    const { clock, health, postgres } = setUp();
    postgres.breakDown();
    await health.start();
    expect(health.startup().status).toBe('down');
    postgres.mend();
    await clock.advance(5_000);
    expect(health.startup().status).toBe('up');
    postgres.breakDown();
    health.drain();
    await clock.advance(60_000);
    expect(health.startup().status).toBe('up');
  });
});

describe('checks of the store', () => {
  const never = new AbortController().signal;

  it('the database is critical, and up when it answers', async () => {
    const check = storeCheck({ ping: async () => {} });
    expect(check).toMatchObject({ name: 'postgres', critical: true });
    await expect(check.check(never)).resolves.toBeUndefined();
  });

  it('an outbox older than a minute degrades the service', async () => {
    const ageOf = (ageMs: number): Promise<void> => outboxCheck({ outboxAgeMs: async () => ageMs }).check(never);
    await expect(ageOf(60_000)).resolves.toBeUndefined();
    await expect(ageOf(61_000)).rejects.toThrow('the oldest wake-up waits for 61 s');
  });
});
