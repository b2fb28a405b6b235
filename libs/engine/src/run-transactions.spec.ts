import { DeadmanError } from '@deadman/domain';
import type { EffectTransaction, ErrorCode } from '@deadman/domain';
import { deferred, settle } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { EffectsUnderTest } from './effects-under-test.contract.js';
import type { Run } from './run.js';
import { AWAY } from './with-faults.contract.js';
import type { CallFault } from './with-faults.contract.js';

describe('a transaction of a run', () => {
  let under: EffectsUnderTest;
  let run: Run;
  let calls: number;

  beforeEach(async () => {
    under = new EffectsUnderTest();
    run = await under.start();
    calls = 0;
  });

  /** A change that fires once each time it is called and commits. */
  const fire = async (transaction: EffectTransaction): Promise<{ call: number }> => {
    calls += 1;
    await transaction.query('fire', [`call ${calls}`]);
    return { call: calls };
  };

  it('makes its change, and gives what that returned as JSON gives it back', async () => {
    const at = new Date(0);
    const effects = under.effectsOf(run);
    const given = await effects.transaction('charge', async (transaction) => ({ ...(await fire(transaction)), at }));
    expect(given).toEqual({ call: 1, at: '1970-01-01T00:00:00.000Z' });
    expect(under.fired()).toEqual(['call 1']);
    expect(await effects.end()).toEqual(['charge']);
  });

  it('is not made again by a later attempt, which is given the same and names the effect, too', async () => {
    const first = await under.effectsOf(run).transaction('charge', fire);
    const effects = under.effectsOf(await under.takeOver(run));
    expect(await effects.transaction('charge', fire)).toEqual(first);
    expect([calls, under.fired()]).toEqual([1, ['call 1']]);
    expect(await effects.end()).toEqual(['charge']);
  });

  it('without a key has one all the same', async () => {
    const effects = under.effectsOf(run);
    await effects.transaction(fire);
    expect(await effects.end()).toEqual(['default']);
  });

  it('that returns nothing gives null, each time', async () => {
    expect(await under.effectsOf(run).transaction(() => {})).toBeNull();
    expect(await under.effectsOf(await under.takeOver(run)).transaction(() => {})).toBeNull();
  });

  describe('whose change throws', () => {
    it('changes nothing, throws the same, and is not tried again', async () => {
      const thrown = new Error('no');
      const effects = under.effectsOf(run);
      const failing = effects.transaction('charge', async (transaction) => {
        await fire(transaction);
        throw thrown;
      });
      await expect(failing).rejects.toBe(thrown);
      expect([calls, under.fired(), await effects.end()]).toEqual([1, [], []]);
    });

    it('something that looks like trouble of the store is not tried again either', async () => {
      const thrown = new DeadmanError('store-unavailable');
      const failing = under.effectsOf(run).transaction(() => {
        calls += 1;
        throw thrown;
      });
      await expect(failing).rejects.toBe(thrown);
      expect(calls).toBe(1);
    });

    it('can be made under the same key again', async () => {
      const effects = under.effectsOf(run);
      await expect(effects.transaction('charge', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
      expect(await effects.transaction('charge', fire)).toEqual({ call: 1 });
    });
  });

  describe('that meets trouble with the database', () => {
    const refusals: readonly ErrorCode[] = ['store-unavailable', 'transaction-conflict', 'statement-timeout'];

    it.each(refusals)('such as %s is tried again until it is made, once', async (code) => {
      under.faults['findEffect'] = [{ kind: 'refused', code }];
      under.faults['commitEffect'] = [
        { kind: 'refused', code },
        { kind: 'refused', code },
      ];
      const making = under.effectsOf(run).transaction('charge', fire);
      await under.clock.advance(10_000);
      expect(await making).toEqual({ call: 1 });
      expect(under.fired()).toEqual(['call 1']);
      expect(under.events.of('loop-failed')).toHaveLength(3);
    });

    const unknown: readonly (readonly [string, CallFault, number])[] = [
      ['the request was lost', { kind: 'request-lost' }, 1],
      ['the reply was lost', { kind: 'reply-lost' }, 1],
    ];

    it.each(unknown)('of which it cannot know whether it was made (%s) is made once', async (_what, fault, times) => {
      under.faults['commitEffect'] = [fault];
      const effects = under.effectsOf(run);
      const making = effects.transaction('charge', fire);
      await under.clock.advance(10_000);
      expect(await making).toEqual({ call: 1 });
      expect([calls, under.fired()]).toEqual([times, ['call 1']]);
      expect(await effects.end()).toEqual(['charge']);
    });

    it('is given what the earlier try made when that commits late', async () => {
      const late = deferred();
      under.faults['commitEffect'] = [{ kind: 'late', at: late.promise }];
      const effects = under.effectsOf(run);
      const making = effects.transaction('charge', async (transaction) => {
        const made = await fire(transaction);
        if (made.call === 1) late.resolve();
        await settle();
        return made;
      });
      await under.clock.advance(10_000);
      await making;
      expect(under.fired()).toHaveLength(1);
    });

    it('is given what is stored, and not what it made itself, when another was faster', async () => {
      const until = deferred();
      under.faults['commitEffect'] = [{ kind: 'held', until: until.promise }];
      const making = under.effectsOf(run).transaction('charge', fire);
      await settle();
      const faster = await under.effectsOf(run).transaction('charge', async (transaction) => {
        await fire(transaction);
        return 'of the faster one';
      });
      until.resolve();
      expect(await making).toBe(faster);
      expect(under.fired()).toEqual(['call 1']);
    });

    it('is given up with the reason of the signal when the run is aborted meanwhile', async () => {
      under.faults['findEffect'] = Array.from({ length: 1_000 }, () => AWAY);
      const making = under.effectsOf(run).transaction(fire);
      const failing = expect(making).rejects.toMatchObject({ code: 'timeout' });
      await under.clock.advance(5_000);
      run.abort('timeout');
      await failing;
      expect([calls, under.clock.pendingTimers]).toEqual([0, 0]);
    });
  });

  describe('of a run that lost its job', () => {
    it('is undone, throws the reason, and lets nothing more come of the run', async () => {
      const effects = under.effectsOf(run);
      const making = effects.transaction('charge', async (transaction) => {
        await under.lapse(run.job);
        return fire(transaction);
      });
      await expect(making).rejects.toMatchObject({ name: 'AbortError', code: 'lease-lost' });
      expect([under.fired(), run.isLost, await effects.end()]).toEqual([[], true, []]);
      expect(under.events.of('write-fenced')).toMatchObject([{ operation: 'effect', jobId: run.job.id }]);
    });

    it('is not begun, though the database would still have let it', async () => {
      under.mayFire = (asking) => {
        asking.lose();
        return false;
      };
      await expect(under.effectsOf(run).transaction(fire)).rejects.toMatchObject({ code: 'lease-lost' });
      expect([calls, under.fired()]).toEqual([0, []]);
    });

    it('asks whether it may right before its change, however long the database made it wait', async () => {
      const until = deferred();
      under.faults['commitEffect'] = [{ kind: 'held', until: until.promise }];
      const making = under.effectsOf(run).transaction(fire);
      await settle();
      run.lose();
      until.resolve();
      await expect(making).rejects.toMatchObject({ code: 'lease-lost' });
      expect(calls).toBe(0);
    });
  });

  it('of a run that was cancelled can still be made: a handler may undo what it did', async () => {
    run.abort('cancelled');
    expect(await under.effectsOf(run).transaction('undo', fire)).toEqual({ call: 1 });
  });

  it('that is left waiting for too long is tried three times and is then a failure that says so', async () => {
    let tries = 0;
    const effects = under.effectsOf(run, async () => {
      tries += 1;
      return { kind: 'idle' };
    });
    await expect(effects.transaction('slow', fire)).rejects.toMatchObject({ code: 'transaction-idle' });
    expect(tries).toBe(3);
  });

  describe('and its key', () => {
    it.each(['', 'k'.repeat(129), 'a\0b', 7, undefined, null])('cannot be %j', async (key) => {
      await expect(under.effectsOf(run).transaction(key as string, fire)).rejects.toThrow(TypeError);
      expect(calls).toBe(0);
    });

    it('is used once in a run: a second change under it would be skipped', async () => {
      const effects = under.effectsOf(run);
      await effects.transaction('charge', fire);
      await expect(effects.transaction('charge', fire)).rejects.toThrow('"charge"');
      await Promise.allSettled([effects.transaction('both', fire), effects.transaction('both', fire)]);
      expect(under.fired()).toHaveLength(2);
    });

    it('is not needed to be a text only: there must be a change, too', async () => {
      await expect(under.effectsOf(run).transaction('charge', undefined as never)).rejects.toThrow(TypeError);
    });
  });

  it.each([
    ['a BigInt', () => 1n],
    ['a function', () => () => 1],
    ['more than 64 KiB', () => 'x'.repeat(65_536)],
  ])('whose value is %s changes nothing', async (_what, value) => {
    const making = under.effectsOf(run).transaction('charge', async (transaction) => {
      await fire(transaction);
      return value();
    });
    await expect(making).rejects.toThrow(TypeError);
    expect(under.fired()).toEqual([]);
  });

  it('keeps 64 KiB', async () => {
    const value = 'x'.repeat(65_534);
    expect(await under.effectsOf(run).transaction('charge', () => value)).toBe(value);
  });

  describe('hands in jobs', () => {
    it('that exist with it, in the queue of their parent unless they say otherwise, and are told of at once', async () => {
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      run = await under.start({ queue: 'orders', traceparent });
      const ids = await under
        .effectsOf(run)
        .transaction('ship', async (transaction) => [
          await transaction.submit({ type: 'mail.send', payload: { to: 'ada' } }),
          await transaction.submit({ type: 'mail.send', queue: 'bulk', delaySeconds: 60 }),
        ]);
      await settle();
      const [now, later] = ids.map(({ id }) => under.db.jobs.get(id));
      expect(now).toMatchObject({
        type: 'mail.send',
        payload: '{"to":"ada"}',
        queue: 'orders',
        state: 'PENDING',
        traceparent,
      });
      expect(later).toMatchObject({ payload: '{}', queue: 'bulk', state: 'SCHEDULED' });
      expect(under.events.of('outbox-sent')).toMatchObject([{ by: 'writer', count: 1 }]);
    });

    it('once, however often it is run, and none when it fails', async () => {
      const submit = async (transaction: EffectTransaction): Promise<unknown> =>
        transaction.submit({ type: 'mail.send' });
      const first = await under.effectsOf(run).transaction('ship', submit);
      const effects = under.effectsOf(await under.takeOver(run));
      expect(await effects.transaction('ship', submit)).toEqual(first);
      const failing = effects.transaction('other', async (transaction) => {
        await submit(transaction);
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(under.db.jobs.size).toBe(2);
    });

    it('and refuses those that the api would refuse', async () => {
      const submitting = under.effectsOf(run).transaction((transaction) => transaction.submit({ type: 'No Type' }));
      await expect(submitting).rejects.toThrow('a type is');
      expect(under.db.jobs.size).toBe(1);
    });
  });

  it('that its handler does not wait for is waited for at the end, and none begins after it', async () => {
    const mayGoOn = deferred();
    const effects = under.effectsOf(run);
    void effects.transaction('slow', async (transaction) => {
      await mayGoOn.promise;
      return fire(transaction);
    });
    const ended = effects.end();
    await expect(effects.transaction('late', fire)).rejects.toThrow('has ended');
    mayGoOn.resolve();
    expect(await ended).toEqual(['slow']);
  });
});
