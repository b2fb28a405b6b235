import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { shownOptions } from './options.js';
import type { Options } from './options.js';
import type { Scenario } from './scenarios/scenario.js';
import { toLines, toMarkdown } from './tell/report.js';
import type { Report } from './tell/report.js';

/** Plays one scenario with one seed. Rejects when it could not be brought to its end. */
export type Play = (scenario: Scenario, seed: number) => Promise<Report>;

/**
 * Plays every scenario with every seed and writes a report of each. Of a list of seeds, those that have a report already
 * are not played again, so that a campaign of many hours can be interrupted, and goes on where it was.
 */
export class Campaign {
  readonly #options: Options;
  readonly #play: Play;
  readonly #reports: string;
  readonly #say: (line: string) => void;

  constructor(options: Options, play: Play, say: (line: string) => void) {
    this.#options = options;
    this.#play = play;
    this.#reports = resolve(options.report);
    this.#say = say;
    mkdirSync(this.#reports, { recursive: true });
  }

  /** Returns whether all runs were green. */
  async run(scenarios: readonly Scenario[], stop: AbortSignal): Promise<boolean> {
    let isGreen = true;
    for (const scenario of scenarios) {
      for (const seed of this.#options.seeds) {
        if (stop.aborted) return false;
        const report = this.#earlier(scenario.name, seed) ?? (await this.#make(scenario, seed, stop));
        isGreen = isGreen && report?.isGreen === true;
      }
    }
    return isGreen;
  }

  /** Null when the run could not be brought to its end. */
  async #make(scenario: Scenario, seed: number, stop: AbortSignal): Promise<Report | null> {
    try {
      const report = await this.#play(scenario, seed);
      this.#write(report);
      for (const line of toLines(report)) this.#say(line);
      return report;
    } catch (error) {
      const cause = stop.aborted ? 'it was interrupted' : ((error as Error).stack ?? String(error));
      this.#say(`RED: ${scenario.name}, seed ${seed}, did not come to its end: ${cause}`);
      return null;
    }
  }

  #earlier(scenario: string, seed: number): Report | null {
    const file = this.#fileOf(scenario, seed, 'json');
    if (!this.#options.isCampaign || !existsSync(file)) return null;
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    if (!isDeepStrictEqual(report.options, shownOptions(this.#options))) {
      this.#say(`${scenario}, seed ${seed}, is made again: ${file} is of other options`);
      return null;
    }
    this.#say(`${report.isGreen ? 'green' : 'RED'}: ${scenario}, seed ${seed}, as ${file} says`);
    return report;
  }

  #write(report: Report): void {
    const { scenario, seed } = report;
    // The JSON last: it is what says that there is a report.
    replace(this.#fileOf(scenario, seed, 'md'), toMarkdown(report));
    replace(this.#fileOf(scenario, seed, 'json'), `${JSON.stringify(report, null, 2)}\n`);
  }

  #fileOf(scenario: string, seed: number, ending: 'json' | 'md'): string {
    return join(this.#reports, `${scenario}-${seed}.${ending}`);
  }
}

function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}
