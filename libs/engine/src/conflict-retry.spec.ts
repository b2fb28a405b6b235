import { DeadmanError } from '@deadman/domain';
import { FakeClock, FixedRandom } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { retryConflicts } from './conflict-retry.js';

const conflict = (): DeadmanError => new DeadmanError('transaction-conflict');

describe('retryConflicts', () => {
  it('repeats an act that was broken off, after a pause that doubles, and returns what it answers', async () => {
    const clock = new FakeClock();
    const atMs: number[] = [];
    const answer = retryConflicts(
      async () => {
        atMs.push(clock.monotonicMs());
        if (atMs.length < 4) throw conflict();
        return 'done';
      },
      { clock, random: new FixedRandom(0.5) },
    );
    await clock.advance(1_000);
    expect(await answer).toBe('done');
    expect(atMs).toEqual([0, 5, 15, 35]);
  });

  it('gives up after six tries and throws the conflict', async () => {
    const clock = new FakeClock();
    let tries = 0;
    const answer = retryConflicts(
      async () => {
        tries += 1;
        throw conflict();
      },
      { clock, random: new FixedRandom() },
    );
    const thrown = expect(answer).rejects.toMatchObject({ code: 'transaction-conflict' });
    await clock.advance(10_000);
    await thrown;
    expect(tries).toBe(6);
  });

  it.each(['unknown-outcome', 'store-unavailable', 'data-rejected'] as const)(
    'does not repeat after "%s"',
    async (code) => {
      let tries = 0;
      const answer = retryConflicts(
        async () => {
          tries += 1;
          throw new DeadmanError(code);
        },
        { clock: new FakeClock(), random: new FixedRandom() },
      );
      await expect(answer).rejects.toMatchObject({ code });
      expect(tries).toBe(1);
    },
  );
});
