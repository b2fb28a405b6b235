import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Options } from './options.js';
import { perform } from './run/perform.js';
import type { Places } from './run/perform.js';
import type { Scenario } from './scenarios/scenario.js';
import { toLines, toMarkdown } from './tell/report.js';
import type { Report } from './tell/report.js';

/** Where stack, code, and the files of each run are. */
export interface CampaignPlaces extends Omit<Places, 'folder'> {
  readonly runs: string;
}

/**
 * Plays every scenario with every seed and writes a report of each. A run that has a report already is not made again, so
 * that a campaign of many hours can be interrupted, and goes on where it was.
 */
export class Campaign {
  readonly #options: Options;
  readonly #places: CampaignPlaces;
  readonly #reports: string;
  readonly #say: (line: string) => void;

  constructor(options: Options, places: CampaignPlaces, say: (line: string) => void) {
    this.#options = options;
    this.#places = places;
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
        const report = this.#earlier(scenario, seed) ?? (await this.#perform(scenario, seed, stop));
        isGreen &&= report?.isGreen ?? false;
      }
    }
    return isGreen;
  }

  /** Null when the run could not be brought to its end. */
  async #perform(scenario: Scenario, seed: number, stop: AbortSignal): Promise<Report | null> {
    const { runs, ...places } = this.#places;
    const folder = join(runs, `${scenario.name}-${seed}`);
    try {
      const report = await perform(scenario, seed, this.#options, { ...places, folder }, stop);
      this.#write(report);
      for (const line of toLines(report)) this.#say(line);
      if (!report.isGreen) this.#say(`  what it left behind: ${folder}`);
      return report;
    } catch (error) {
      const cause = stop.aborted ? 'interrupted' : ((error as Error).stack ?? String(error));
      this.#say(
        `RED: ${scenario.name}, seed ${seed}, did not come to its end: ${cause}\n  what it left behind: ${folder}`,
      );
      return null;
    }
  }

  #earlier(scenario: Scenario, seed: number): Report | null {
    const file = this.#fileOf(scenario.name, seed, 'json');
    if (!existsSync(file)) return null;
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    this.#say(`${report.isGreen ? 'green' : 'RED'}: ${scenario.name}, seed ${seed}, as ${file} says`);
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
