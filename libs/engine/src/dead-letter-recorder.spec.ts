import { DeadmanError, Transport } from '@deadman/domain';
import type { DeathHandler, DeathNotice, ErrorCode, JobStore, RecordedDeadLetter, Subscription } from '@deadman/domain';
import { deferred, FakeClock, FixedRandom, RecordingEvents, settle } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { DeadLetterRecorder } from './dead-letter-recorder.js';

const idOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const death = (number: number, attempt = 1): DeathNotice => ({ jobId: idOf(number), attempt });

/** Hands batches to its consumer one by one, as a test says, and rejects with what the consumer throws. */
class HandTransport extends Transport {
  handler: DeathHandler | null = null;
  subscribed = 0;
  closed = 0;
  failure: Error | null = null;

  override async publish(): Promise<readonly string[]> {
    return [];
  }

  override async consumeReady(): Promise<Subscription> {
    return { pause: async () => {}, close: async () => {} };
  }

  override async consumeDead(handler: DeathHandler): Promise<Subscription> {
    this.subscribed += 1;
    if (this.failure !== null) throw this.failure;
    this.handler = handler;
    return { pause: async () => {}, close: async () => void (this.closed += 1) };
  }

  deliver(...deaths: readonly unknown[]): Promise<void> {
    return this.handler!(deaths as readonly DeathNotice[]);
  }
}

describe('DeadLetterRecorder', () => {
  let transport: HandTransport;
  let events: RecordingEvents;
  let clock: FakeClock;
  let batches: (readonly DeathNotice[])[];
  let answer: (batch: readonly DeathNotice[]) => readonly RecordedDeadLetter['kind'][];
  let recorder: DeadLetterRecorder;

  beforeEach(async () => {
    transport = new HandTransport();
    events = new RecordingEvents();
    clock = new FakeClock();
    batches = [];
    answer = (batch) => batch.map(() => 'recorded');
    const recordDeadLetters = async (batch: readonly DeathNotice[]): Promise<readonly RecordedDeadLetter[]> => {
      batches.push(batch);
      const kinds = answer(batch);
      return batch.map((one, index) => ({ ...one, kind: kinds[index]!, reason: 'exhausted' }));
    };
    const store = { recordDeadLetters } as unknown as JobStore;
    recorder = new DeadLetterRecorder({ transport, store, clock, random: new FixedRandom(), events });
    await recorder.start();
  });

  it('records a batch of deaths together and tells of each', async () => {
    answer = () => ['recorded', 'superseded'];
    await transport.deliver(death(1), death(2, 3));
    expect(batches).toEqual([[death(1), death(2, 3)]]);
    expect(events.all).toEqual([
      { kind: 'dead-letter-recorded', ...death(1), reason: 'exhausted', superseded: false },
      { kind: 'dead-letter-recorded', ...death(2, 3), reason: 'exhausted', superseded: true },
    ]);
  });

  it('never records more than 500 in one transaction', async () => {
    await transport.deliver(...Array.from({ length: 1_001 }, (_, index) => death(index)));
    expect(batches.map((batch) => batch.length)).toEqual([500, 500, 1]);
  });

  it('tells the store of a death once, however often it stands in a batch, and of two attempts of one job twice', async () => {
    await transport.deliver(death(1, 1), death(1, 2), death(1, 1));
    expect(batches).toEqual([[death(1, 1), death(1, 2)]]);
  });

  it('drops and counts what is malformed before it meets the database, and records the rest', async () => {
    const malformed = [
      { jobId: 'x', attempt: 1 },
      { jobId: 7, attempt: 1 },
      { attempt: 1 },
      { jobId: idOf(1).toUpperCase().replace('0-7', 'A-7'), attempt: 1 },
      { jobId: `${idOf(1)}\0`, attempt: 1 },
      { jobId: idOf(1), attempt: 0 },
      { jobId: idOf(1), attempt: 1.5 },
      { jobId: idOf(1), attempt: 2 ** 31 },
      { jobId: idOf(1), attempt: '1' },
      { jobId: idOf(1), attempt: Number.NaN },
    ];
    await transport.deliver(...malformed, death(2));
    expect(batches).toEqual([[death(2)]]);
    expect(events.of('tickets-handled')).toEqual([{ kind: 'tickets-handled', result: 'malformed', count: 10 }]);
  });

  it('counts what is malformed once, when the batch that it came with is recorded', async () => {
    answer = () => {
      throw new DeadmanError('store-unavailable');
    };
    const batch = [{ jobId: 'x', attempt: 1 }, death(1)];
    await expect(transport.deliver(...batch)).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(events.of('tickets-handled')).toEqual([]);
    answer = () => ['recorded'];
    await transport.deliver(...batch);
    expect(events.of('tickets-handled')).toEqual([{ kind: 'tickets-handled', result: 'malformed', count: 1 }]);
  });

  it('asks nothing of the database when everything is malformed', async () => {
    await transport.deliver({ jobId: 'x', attempt: 1 });
    expect(batches).toEqual([]);
  });

  it('counts a repeated delivery and an unknown death, and is done with both', async () => {
    answer = () => ['already', 'unknown'];
    await transport.deliver(death(1), death(2));
    expect(events.all).toEqual([
      { kind: 'tickets-handled', result: 'duplicate', count: 1 },
      { kind: 'tickets-handled', result: 'stale', count: 1 },
    ]);
  });

  it('records all others when the database refuses one, and tells of that one', async () => {
    answer = (batch) => {
      if (batch.some(({ jobId }) => jobId === idOf(3))) throw new DeadmanError('data-rejected');
      return batch.map(() => 'recorded');
    };
    await transport.deliver(...[1, 2, 3, 4, 5].map((number) => death(number)));
    expect(events.of('dead-letter-recorded').map(({ jobId }) => jobId)).toEqual([1, 2, 4, 5].map(idOf));
    expect(events.of('loop-failed')).toMatchObject([
      { loop: 'dead-letter-recorder', error: { code: 'data-rejected' } },
    ]);
  });

  it.each<ErrorCode>(['store-unavailable', 'unknown-outcome', 'statement-timeout'])(
    'throws "%s", so that the transport delivers again',
    async (code) => {
      answer = () => {
        throw new DeadmanError(code);
      };
      await expect(transport.deliver(death(1))).rejects.toMatchObject({ code });
      expect(events.of('dead-letter-recorded')).toEqual([]);
    },
  );

  it('repeats a transaction that met another one', async () => {
    answer = (batch) => {
      if (batches.length < 3) throw new DeadmanError('transaction-conflict');
      return batch.map(() => 'recorded');
    };
    const delivered = transport.deliver(death(1));
    await clock.advance(1_000);
    await delivered;
    expect(batches).toHaveLength(3);
  });

  it('subscribes once however often it is started, and closes once however often it is stopped', async () => {
    await recorder.start();
    await recorder.stop();
    await recorder.stop();
    expect([transport.subscribed, transport.closed]).toEqual([1, 1]);
  });

  it('can be started again after the transport refused', async () => {
    await recorder.stop();
    transport.failure = new DeadmanError('transport-unavailable');
    await expect(recorder.start()).rejects.toBe(transport.failure);
    await recorder.stop();
    transport.failure = null;
    await recorder.start();
    expect(transport.subscribed).toBe(3);
  });

  it('closes a subscription that was still being made when it was stopped', async () => {
    const late = deferred<Subscription>();
    transport.consumeDead = () => late.promise;
    await recorder.stop();
    const started = recorder.start();
    let isStopped = false;
    const stopped = recorder.stop().then(() => (isStopped = true));
    await settle();
    expect(isStopped).toBe(false);
    late.resolve({ pause: async () => {}, close: async () => void (transport.closed += 1) });
    await Promise.all([started, stopped]);
    expect(transport.closed).toBe(2);
  });
});
