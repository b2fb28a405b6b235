import { DEFAULT_LIMITS } from '@deadman/domain';
import type { Settings } from '@deadman/services';
import { CHECKS } from '../checks/checks.js';
import type { Evidence, Terms } from '../checks/evidence.js';
import { gatherEvidence } from '../checks/gather.js';
import { isGreen, judge } from '../checks/judge.js';
import { measure } from '../checks/measures.js';
import { shownOptions } from '../options.js';
import type { Options } from '../options.js';
import { usualFleet } from '../scenarios/scenario.js';
import type { Scenario } from '../scenarios/scenario.js';
import { describeEnvironment } from '../tell/environment.js';
import { Progress } from '../tell/progress.js';
import type { Report } from '../tell/report.js';
import { Site } from './site.js';
import { Stage } from './stage.js';

/** Backoff and wait of the quarantine in life (`protocol.md` §9). Milliseconds; scaled, and never below the least values. */
const QUARANTINE = { baseMs: 1_000, maxMs: 60_000, waitMs: 60_000, leastWaitMs: 2_000 } as const;

export interface Places {
  /** Gets what the run leaves behind. */
  readonly folder: string;
  readonly stackDir: string;
  readonly code: string;
}

/** Plays one scenario with one seed, and judges what it left behind. @param stop ends it early, which makes it red. */
export async function perform(
  scenario: Scenario,
  seed: number,
  options: Options,
  places: Places,
  stop: AbortSignal,
): Promise<Report> {
  const startedAt = new Date();
  const settings = { ...settingsFor(options), ...scenario.settings?.(options) };
  const site = await Site.open({ ...places, settings });
  const progress = new Progress(`${scenario.name}/${seed}`);
  const stage = new Stage(site, options, seed, stop, (at) => progress.show(at));
  try {
    const environment = await describeEnvironment(site);
    await site.startAll(scenario.fleet?.(options) ?? usualFleet(options));
    const extraMs = (await scenario.act(stage)) ?? 0;
    const ending = await stage.untilAllEnded(extraMs);
    if (stop.aborted) throw new Error('The run was ended before its time.');
    await site.endServices();
    const evidence = await gatherEvidence(site, { terms: termsOf(scenario, options), ...testimonyOf(stage), ending });
    const checks = [...CHECKS, ...(scenario.checks ?? [])];
    const judgements = judge(checks, stage.findings, evidence, options);
    return {
      scenario: scenario.name,
      title: scenario.title,
      seed,
      isGreen: isGreen(judgements),
      startedAt: startedAt.toISOString(),
      tookSeconds: (Date.now() - startedAt.getTime()) / 1_000,
      options: shownOptions(options),
      constants: { settings, terms: evidence.terms },
      environment,
      measures: measure(evidence),
      figures: stage.figures,
      ending,
      judgements,
    };
  } finally {
    progress.end();
    await stage.close();
    await site.close();
  }
}

/** What every run sets, because life has it longer or because the options say so. */
function settingsFor({ ttlMs, slots, timeScale }: Options): Settings {
  const { baseMs, maxMs, waitMs, leastWaitMs } = QUARANTINE;
  const scaled = (ms: number, leastMs: number): string => String(Math.max(leastMs, Math.round(ms * timeScale)));
  return {
    DEADMAN_LEASE_TTL_MS: String(ttlMs),
    DEADMAN_SLOTS: String(slots),
    DEADMAN_QUARANTINE_BASE_MS: scaled(baseMs, 1),
    DEADMAN_QUARANTINE_MAX_MS: scaled(maxMs, 1),
    DEADMAN_QUARANTINE_WAIT_MS: scaled(waitMs, leastWaitMs),
  };
}

function termsOf(scenario: Scenario, options: Options): Terms {
  const { quarantineFrom, crashBudget, maxSnoozes } = DEFAULT_LIMITS;
  const { ttlMs } = options;
  const usual = { ttlMs, killRate: null, recoveryP99Ms: null, quarantineFrom, crashBudget, maxSnoozes };
  return { ...usual, ...scenario.terms?.(options) };
}

function testimonyOf({ ledger, client }: Stage): Pick<Evidence, 'accepted' | 'refusals'> {
  return { accepted: ledger.accepted, refusals: client.refusals };
}
