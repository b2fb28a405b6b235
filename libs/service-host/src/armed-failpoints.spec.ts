import { failpointSlice, parseConfig, defineConfig } from '@deadman/config';
import { NO_FAILPOINTS } from '@deadman/domain';
import { FakeClock, FixedRandom, SeededRandom, settle } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { armFailpoints } from './armed-failpoints.js';

const definition = defineConfig({ failpoints: failpointSlice });

describe('failpoints', () => {
  let clock: FakeClock;
  let kills: number;
  let lines: object[];

  beforeEach(() => {
    clock = new FakeClock();
    kills = 0;
    lines = [];
  });

  function armed(text: string, random = new FixedRandom()): ReturnType<typeof armFailpoints> {
    const { failpoints } = parseConfig(definition, { DEADMAN_FAILPOINT: text });
    const logger = { warn: (fields: object) => void lines.push(fields) } as never;
    return armFailpoints(failpoints.failpoint, { clock, random, logger, kill: () => void (kills += 1) });
  }

  it('are none when none is ordered', () => {
    expect(armed('')).toBe(NO_FAILPOINTS);
  });

  it('kill at their place and at no other, and say so before', () => {
    const failpoints = armed('after_claim');
    expect([failpoints.at('before_claim'), kills]).toEqual([undefined, 0]);
    void failpoints.at('after_claim');
    expect(kills).toBe(1);
    expect(lines).toMatchObject([{ event: 'failpoints.armed' }, { event: 'failpoint.hit', failpoint: 'after_claim' }]);
  });

  it('hold the work up for as long as they are told', async () => {
    let isOver = false;
    void armed('mid_handler:pause=500')
      .at('mid_handler')
      ?.then(() => (isOver = true));
    await clock.advance(499);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await settle();
    expect(isOver).toBe(true);
  });

  it('throw what is as good as a lost reply', async () => {
    await expect(armed('after_settle:throw').at('after_settle')).rejects.toMatchObject({ code: 'unknown-outcome' });
  });

  it('are hit at the passage they are told, once', () => {
    const failpoints = armed('before_settle:kill@3, after_settle');
    for (let passage = 0; passage < 5; passage += 1) void failpoints.at('before_settle');
    expect(kills).toBe(1);
  });

  it('are hit at the first passage of a process that is old enough, once', async () => {
    const failpoints = armed('before_settle:kill@2500ms');
    void failpoints.at('before_settle');
    await clock.advance(2_499);
    void failpoints.at('before_settle');
    expect(kills).toBe(0);
    await clock.advance(1);
    void failpoints.at('before_settle');
    void failpoints.at('before_settle');
    expect(kills).toBe(1);
  });

  it('are hit about as often as their chance says', () => {
    const failpoints = armed('before_settle@0.25', SeededRandom.announced('chance of a failpoint') as never);
    for (let passage = 0; passage < 4_000; passage += 1) void failpoints.at('before_settle');
    expect(kills).toBeGreaterThan(800);
    expect(kills).toBeLessThan(1_200);
  });

  it.each(['nowhere', 'after_claim:explode', 'after_claim:pause', 'after_claim@', 'after_claim,after_claim:throw'])(
    'cannot be ordered as %s',
    (text) => {
      expect(() => armed(text)).toThrow('DEADMAN_FAILPOINT');
    },
  );
});
