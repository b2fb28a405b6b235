import type { StepContext } from '@deadman/domain';
import { deferred } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { EffectsUnderTest } from './effects-under-test.contract.js';
import type { Run } from './run.js';
import { AWAY } from './with-faults.contract.js';

describe('a step of a run', () => {
  let under: EffectsUnderTest;
  let run: Run;
  /** What the work was told, each time it was called. */
  let told: StepContext[];

  beforeEach(async () => {
    under = new EffectsUnderTest();
    run = await under.start();
    told = [];
  });

  const work = (step: StepContext): { call: number } => {
    told.push(step);
    return { call: told.length };
  };
  const doubts = (): readonly boolean[] => told.map(({ isInDoubt }) => isInDoubt);

  it('does its work and remembers what it came to: a later attempt is given that', async () => {
    expect(await under.effectsOf(run).step('mail', work)).toEqual({ call: 1 });
    expect(await under.effectsOf(await under.takeOver(run)).step('mail', work)).toEqual({ call: 1 });
    expect(told).toMatchObject([{ idempotencyKey: `${run.job.id}/mail`, isInDoubt: false, signal: run.signal }]);
    expect(under.events.of('step-in-doubt')).toEqual([]);
  });

  it('that returns nothing is remembered, too', async () => {
    const forget = (): void => void told.push();
    expect(await under.effectsOf(run).step('mail', forget)).toBeNull();
    expect(await under.effectsOf(await under.takeOver(run)).step('mail', work)).toBeNull();
    expect(told).toEqual([]);
  });

  it('is begun in the store before its work is called', async () => {
    await under.effectsOf(run).step('mail', () => {
      expect(under.db.steps.get(run.job.id)?.get('mail')).toEqual({ attempt: 1, value: null });
    });
  });

  describe('whose attempt ends between its work and its memo', () => {
    it('is done again, in doubt, under the same key, and somebody hears of it', async () => {
      const cut = deferred();
      under.faults['finishStep'] = [{ kind: 'held', until: cut.promise }];
      void under
        .effectsOf(run)
        .step('mail', work)
        .catch(() => undefined);
      const later = await under.takeOver(run);
      expect(await under.effectsOf(later).step('mail', work)).toEqual({ call: 2 });
      cut.resolve();
      expect(doubts()).toEqual([false, true]);
      expect(new Set(told.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
      expect(under.events.of('step-in-doubt')).toMatchObject([{ step: 'mail', jobId: run.job.id, attempt: 2 }]);
    });

    it('keeps what the later attempt made of it, whatever the earlier one brings', async () => {
      const cut = deferred();
      under.faults['finishStep'] = [{ kind: 'held', until: cut.promise }];
      const first = under.effectsOf(run).step('mail', work);
      const later = await under.takeOver(run);
      await under.effectsOf(later).step('mail', work);
      cut.resolve();
      await expect(first).rejects.toMatchObject({ code: 'lease-lost' });
      expect(run.isLost).toBe(true);
      expect(under.events.of('write-fenced')).toMatchObject([{ operation: 'step' }]);
      expect(await under.effectsOf(await under.takeOver(later)).step('mail', work)).toEqual({ call: 2 });
    });
  });

  describe('whose work throws', () => {
    it('throws the same, and is in doubt from then on, in the same run and in the next', async () => {
      const thrown = new Error('no answer');
      const effects = under.effectsOf(run);
      const failing = effects.step('mail', (step) => {
        told.push(step);
        throw thrown;
      });
      await expect(failing).rejects.toBe(thrown);
      expect(await effects.step('mail', work)).toEqual({ call: 2 });
      expect(doubts()).toEqual([false, true]);
    });
  });

  describe('that meets trouble with the database', () => {
    it('does its work once, and is in no doubt for a reply that was lost before it', async () => {
      under.faults['beginStep'] = [{ kind: 'reply-lost' }, AWAY];
      under.faults['finishStep'] = [AWAY, { kind: 'reply-lost' }, { kind: 'request-lost' }];
      const remembering = under.effectsOf(run).step('mail', work);
      await under.clock.advance(10_000);
      expect(await remembering).toEqual({ call: 1 });
      expect(doubts()).toEqual([false]);
      expect(await under.effectsOf(await under.takeOver(run)).step('mail', work)).toEqual({ call: 1 });
    });
  });

  describe('that an earlier attempt began', () => {
    it('is in doubt though the first word of that was lost, and it had to be asked again', async () => {
      under.faults['finishStep'] = [{ kind: 'held', until: new Promise(() => {}) }];
      void under.effectsOf(run).step('mail', work);
      const later = await under.takeOver(run);
      under.faults['beginStep'] = [{ kind: 'reply-lost' }];
      const remembering = under.effectsOf(later).step('mail', work);
      await under.clock.advance(10_000);
      expect(await remembering).toEqual({ call: 2 });
      expect(doubts()).toEqual([false, true]);
    });
  });

  describe('of a run that lost its job', () => {
    it('does nothing when the store says so', async () => {
      await under.lapse(run.job);
      await expect(under.effectsOf(run).step('mail', work)).rejects.toMatchObject({ code: 'lease-lost' });
      expect([told, run.isLost]).toEqual([[], true]);
    });

    it('does nothing when the clock says so, though the store would still have let it', async () => {
      under.mayFire = (asking) => {
        asking.lose();
        return false;
      };
      await expect(under.effectsOf(run).step('mail', work)).rejects.toMatchObject({ code: 'lease-lost' });
      expect(told).toEqual([]);
    });
  });

  it('has a name of its own beside the transactions, used once in a run', async () => {
    const effects = under.effectsOf(run);
    await effects.transaction('mail', () => 1);
    await effects.step('mail', work);
    await expect(effects.step('mail', work)).rejects.toThrow('"mail"');
    await expect(effects.step('', work)).rejects.toThrow(TypeError);
    await expect(effects.step('other', undefined as never)).rejects.toThrow(TypeError);
    expect(told).toHaveLength(1);
  });

  it('names nothing for the settle: what it remembers is not what the success stands on', async () => {
    const effects = under.effectsOf(run);
    await effects.step('mail', work);
    expect(await effects.end()).toEqual([]);
  });

  it('may have a thousand others beside it, and no more', async () => {
    const effects = under.effectsOf(run);
    for (let place = 0; place < 1_000; place += 1) await effects.step(`mail ${place}`, () => place);
    await expect(effects.step('one more', work)).rejects.toThrow('1000');
  });
});
