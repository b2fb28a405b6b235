import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Campaign } from './campaign.js';
import type { Play } from './campaign.js';
import { blameless } from './checks/doctored.contract.js';
import { measure } from './checks/measures.js';
import { parseOptions, shownOptions } from './options.js';
import type { Options } from './options.js';
import type { Scenario } from './scenarios/scenario.js';

const SCENARIO: Scenario = { name: 'calm', number: null, title: 'nothing happens', act: async () => {} };
const NEVER = new AbortController().signal;

describe('a campaign', () => {
  let folder: string;
  let played: number[];
  let said: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'campaign-'));
    [played, said] = [[], []];
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const optionsOf = (...args: readonly string[]): Options => parseOptions([...args, '--report', folder]);

  const playing =
    (options: Options, isGreen: (seed: number) => boolean = () => true): Play =>
    async ({ name: scenario, title }, seed) => {
      played.push(seed);
      const evidence = blameless();
      return {
        scenario,
        title,
        seed,
        isGreen: isGreen(seed),
        startedAt: new Date(0).toISOString(),
        tookSeconds: 1,
        options: shownOptions(options),
        constants: { settings: {}, terms: evidence.terms },
        environment: {} as never,
        measures: measure(evidence),
        figures: {},
        ending: evidence.ending,
        judgements: [],
      };
    };

  const run = (options: Options, play = playing(options), stop: AbortSignal = NEVER): Promise<boolean> =>
    new Campaign(options, play, (line) => said.push(line)).run([SCENARIO], stop);

  it('writes a report of each seed, for people and for programs', async () => {
    await expect(run(optionsOf('--seeds', '1,2'))).resolves.toBe(true);
    expect(JSON.parse(readFileSync(join(folder, 'calm-2.json'), 'utf8'))).toMatchObject({ seed: 2, isGreen: true });
    expect(readFileSync(join(folder, 'calm-2.md'), 'utf8')).toContain('# calm, seed 2: green');
  });

  it('goes on where it was interrupted', async () => {
    const options = optionsOf('--seeds', '1,2,3');
    const stop = new AbortController();
    const play = playing(options);
    const interrupted: Play = async (scenario, seed) => {
      if (seed === 2) {
        stop.abort();
        throw new Error('interrupted');
      }
      return play(scenario, seed);
    };
    await expect(run(options, interrupted, stop.signal)).resolves.toBe(false);
    expect([played, existsSync(join(folder, 'calm-2.json'))]).toEqual([[1], false]);
    await expect(run(options)).resolves.toBe(true);
    expect(played).toEqual([1, 2, 3]);
  });

  it('plays again what was played with other options', async () => {
    await run(optionsOf('--seeds', '1', '--jobs', '5'));
    await run(optionsOf('--seeds', '1', '--jobs', '6'));
    expect(played).toEqual([1, 1]);
  });

  it('is red when a run was, also one of an earlier time', async () => {
    const options = optionsOf('--seeds', '1,2');
    await expect(
      run(
        options,
        playing(options, (seed) => seed !== 1),
      ),
    ).resolves.toBe(false);
    await expect(run(options)).resolves.toBe(false);
    expect(played).toEqual([1, 2]);
  });

  it('is red when a run does not come to its end, and says why', async () => {
    const broken: Play = () => Promise.reject(new Error('the servers are gone'));
    await expect(run(optionsOf('--seeds', '1'), broken)).resolves.toBe(false);
    expect(said.join()).toContain('the servers are gone');
  });

  it('is none when one seed is asked for: that is played each time', async () => {
    for (let time = 0; time < 2; time += 1) await run(optionsOf('--seed', '4'));
    expect(played).toEqual([4, 4]);
  });
});
