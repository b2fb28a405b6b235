import type { ServiceName } from '@deadman/services';
import type { Settings } from '@deadman/services';
import type { Check } from '../checks/checks.js';
import type { Terms } from '../checks/evidence.js';
import type { Options } from '../options.js';
import type { Stage } from '../run/stage.js';

/** A fault, and what has to come of it. */
export interface Scenario {
  /** By which `--scenario` names it. */
  readonly name: string;
  /** In the table of `faults.md`; null for one that stands elsewhere. */
  readonly number: number | null;
  readonly title: string;
  /** Of all services, beside what every run sets. */
  settings?(options: Options): Settings;
  /** What runs when it begins; by default one api, two reapers, one dead-letter consumer and the workers. */
  fleet?(options: Options): readonly (readonly [ServiceName, string])[];
  /** What it holds the run against, where that differs. */
  terms?(options: Options): Partial<Terms>;
  /** Beside those that hold in every scenario. */
  readonly checks?: readonly Check[];
  /** Resolves when the faults are over and all jobs have been handed in. Returns what G9 has to allow beyond its bound, in milliseconds. */
  act(stage: Stage): Promise<number | void>;
}

export function workerNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `worker-${index + 1}`);
}

/** An api, two reapers and a dead-letter consumer: those that a scenario about workers leaves alone. */
export const SURROUNDINGS: readonly (readonly [ServiceName, string])[] = [
  ['api', 'api-1'],
  ['reaper', 'reaper-1'],
  ['reaper', 'reaper-2'],
  ['dead-letter-consumer', 'dead-letter-consumer-1'],
];

export function usualFleet({ workers }: Options): readonly (readonly [ServiceName, string])[] {
  return [...SURROUNDINGS, ...workerNames(workers).map((name) => ['worker', name] as const)];
}
