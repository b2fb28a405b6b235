import { DeadmanError } from '@deadman/domain';
import { deferred, FakeClock, FixedRandom } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { resolveOptions } from './kafka-options.js';
import type { KafkaTransportEvent } from './kafka-transport-listener.js';
import { TopicConsumer } from './topic-consumer.js';
import type { Session } from './topic-consumer.js';

const DEAF_AFTER_MS = 20_000;
const MAX_FAILURES = 5;

class FakeSession implements Session {
  readonly #ended = deferred<unknown>();
  readonly ended = this.#ended.promise;
  readonly calls: string[] = [];
  isJoined = true;
  silentSinceMs = 0;

  start(): void {
    this.calls.push('start');
  }

  async pause(): Promise<void> {
    this.calls.push('pause');
  }

  async close(): Promise<void> {
    this.calls.push('close');
  }

  abandon(): void {
    this.calls.push('abandon');
  }

  crash(error: unknown): void {
    this.#ended.resolve(error);
  }
}

function setUp(ensureTopic: () => Promise<void> = () => Promise.resolve()) {
  const clock = new FakeClock();
  const sessions: FakeSession[] = [];
  const lost: Extract<KafkaTransportEvent, { kind: 'consumer-lost' }>[] = [];
  const fatal: unknown[] = [];
  const consumer = new TopicConsumer(
    {
      topic: 'jobs.ready',
      ensureTopic,
      openSession: () => {
        const session = new FakeSession();
        session.silentSinceMs = clock.monotonicMs();
        sessions.push(session);
        return session;
      },
      clock,
      random: new FixedRandom(0.5),
      listener: { on: (event) => void (event.kind === 'consumer-lost' && lost.push(event)) },
      onFatal: (error) => void fatal.push(error),
    },
    resolveOptions({
      connection: { brokers: ['127.0.0.1:1'], clientId: 'x' },
      maxFailures: MAX_FAILURES,
      timings: { deafAfterMs: DEAF_AFTER_MS },
    }),
  );
  return { clock, consumer, sessions, lost, fatal };
}

const connectionError = (): Error => Object.assign(new Error('refused'), { name: 'KafkaJSConnectionError' });
/** As kafkajs throws it: what is called not retriable hides a broker that was away. */
const wrapped = (cause: Error): Error => Object.assign(new Error('wrapped', { cause }), { retriable: false });

describe('TopicConsumer', () => {
  it('makes a crashed consumer anew, with growing pauses', async () => {
    const { clock, sessions, lost } = setUp();
    await clock.advanceUntil(() => sessions.length === 1, 0);
    for (let crashes = 1; crashes <= 4; crashes += 1) {
      sessions.at(-1)!.crash(new Error('crash'));
      await clock.advanceUntil(() => sessions.length === crashes + 1, 10_000);
    }
    expect(lost.map(({ reason, failures, retryInMs }) => [reason, failures, retryInMs])).toEqual([
      ['crashed', 1, 150],
      ['crashed', 2, 300],
      ['crashed', 3, 600],
      ['crashed', 4, 1_200],
    ]);
    for (const session of sessions.slice(0, -1)) expect(session.calls).toEqual(['start', 'abandon']);
    expect(sessions.at(-1)!.calls).toEqual(['start']);
  });

  it('notices a consumer that is alive and deaf, and makes it anew', async () => {
    const { clock, sessions, lost } = setUp();
    await clock.advance(DEAF_AFTER_MS - 1_000);
    sessions[0]!.silentSinceMs = clock.monotonicMs();
    await clock.advance(DEAF_AFTER_MS - 1_000);
    expect(sessions).toHaveLength(1);
    await clock.advanceUntil(() => sessions.length === 2, 3_000);
    expect(lost.map(({ reason }) => reason)).toEqual(['deaf']);
    expect(sessions[0]!.calls).toEqual(['start', 'abandon']);
  });

  it('takes no stall of its own thread for a deaf consumer, and notices one all the same', async () => {
    const { clock, sessions, lost } = setUp();
    await clock.advance(0);
    for (let stalls = 0; stalls < 5; stalls += 1) {
      // The watch looks before what came meanwhile was heard.
      clock.stall(DEAF_AFTER_MS + 5_000);
      await clock.advance(1_000);
      sessions[0]!.silentSinceMs = clock.monotonicMs();
      await clock.advance(1_000);
    }
    expect(lost).toEqual([]);
    clock.stall(DEAF_AFTER_MS + 5_000);
    await clock.advanceUntil(() => sessions.length === 2, DEAF_AFTER_MS);
    expect(lost.map(({ reason, failures }) => [reason, failures])).toEqual([['deaf', 1]]);
  });

  it('reports after a bounded number of failures in a row, once, and goes on trying', async () => {
    const { clock, sessions, fatal } = setUp();
    for (let crashes = 1; crashes <= MAX_FAILURES + 2; crashes += 1) {
      await clock.advanceUntil(() => sessions.length === crashes, 10_000);
      expect(fatal).toHaveLength(crashes > MAX_FAILURES ? 1 : 0);
      sessions.at(-1)!.crash(new Error(`crash ${crashes}`));
    }
    expect(fatal.map((error) => (error as Error).message)).toEqual([`crash ${MAX_FAILURES}`]);
  });

  it('forgets failures once a consumer was well for a while', async () => {
    const { clock, sessions, fatal, lost } = setUp();
    for (let crashes = 1; crashes <= MAX_FAILURES * 2; crashes += 1) {
      await clock.advanceUntil(() => sessions.length === crashes, 10_000);
      for (let waited = 0; waited < 40; waited += 1) {
        sessions.at(-1)!.silentSinceMs = clock.monotonicMs();
        await clock.advance(1_000);
      }
      sessions.at(-1)!.crash(new Error('crash'));
    }
    await clock.advance(0);
    expect(lost.map(({ failures }) => failures)).toEqual(Array.from({ length: MAX_FAILURES * 2 }, () => 1));
    expect(fatal).toEqual([]);
  });

  it('tries for ever while no broker can be reached: ending the process would mend nothing', async () => {
    let isReachable = false;
    const { clock, consumer, sessions, lost, fatal } = setUp(async () => {
      if (!isReachable) throw wrapped(connectionError());
    });
    await clock.advance(3_600_000);
    expect(consumer.status).toEqual({ topic: 'jobs.ready', state: 'unreachable' });
    expect(lost.length).toBeGreaterThan(100);
    expect(Math.max(...lost.map(({ retryInMs }) => retryInMs))).toBeLessThanOrEqual(5_000);
    expect(fatal).toEqual([]);
    isReachable = true;
    await clock.advanceUntil(() => sessions.length === 1, 5_000);
    expect(consumer.status.state).toBe('joined');
  });

  it('counts no failure for a consumer that crashed because the broker went away', async () => {
    const { clock, sessions, lost } = setUp();
    await clock.advance(0);
    sessions[0]!.crash(wrapped(connectionError()));
    await clock.advanceUntil(() => sessions.length === 2, 5_000);
    expect(lost.map(({ reason, failures }) => [reason, failures])).toEqual([['unreachable', 0]]);
  });

  it.each([
    [
      'was deaf',
      (session: FakeSession | undefined, nowMs: number) => void (session!.silentSinceMs = nowMs - DEAF_AFTER_MS),
    ],
    ['crashed of something else', (session: FakeSession | undefined) => session!.crash(new Error('has stopped'))],
  ])(
    'counts no failure for a consumer that %s while the brokers do not stand a look at the topic',
    async (_how, lose) => {
      let isReachable = true;
      const { clock, consumer, sessions, lost, fatal } = setUp(async () => {
        if (!isReachable) throw new Error('Broker not connected');
      });
      await clock.advance(0);
      isReachable = false;
      lose(sessions[0], clock.monotonicMs());
      await clock.advance(60_000);
      expect(consumer.status.state).toBe('unreachable');
      expect(new Set(lost.map(({ reason, failures }) => `${reason} ${failures}`))).toEqual(new Set(['unreachable 0']));
      expect(lost.length).toBeGreaterThan(MAX_FAILURES);
      expect(fatal).toEqual([]);
      expect(sessions.map(({ calls }) => calls)).toEqual([['start', 'abandon']]);
    },
  );

  it('reports a topic that was made anew with too few partitions as soon as its consumer is lost', async () => {
    const error = new DeadmanError('configuration-invalid', 'four partitions');
    let hasAll = true;
    const { clock, sessions, fatal } = setUp(() => (hasAll ? Promise.resolve() : Promise.reject(error)));
    await clock.advance(0);
    hasAll = false;
    sessions[0]!.crash(new Error('no such topic'));
    await clock.advance(0);
    expect(fatal).toEqual([error]);
  });

  it('reports a topic with too few partitions at once', async () => {
    const error = new DeadmanError('configuration-invalid', 'four partitions');
    const { clock, sessions, fatal } = setUp(() => Promise.reject(error));
    await clock.advance(0);
    expect(fatal).toEqual([error]);
    expect(sessions).toEqual([]);
  });

  it('pauses and then closes the consumer, and makes none anew', async () => {
    const { clock, consumer, sessions } = setUp();
    await clock.advance(0);
    await consumer.pause();
    sessions[0]!.crash(new Error('crash'));
    await clock.advance(60_000);
    await Promise.all([consumer.close(), consumer.close()]);
    expect(sessions.map(({ calls }) => calls)).toEqual([['start', 'pause', 'close']]);
    expect(consumer.status.state).toBe('closed');
  });

  it('closes while it looks at the topics, and then opens nothing', async () => {
    const looking = deferred();
    const { clock, consumer, sessions } = setUp(() => looking.promise);
    const closed = consumer.close();
    looking.resolve();
    await closed;
    await clock.advance(60_000);
    expect(sessions).toEqual([]);
  });
});
