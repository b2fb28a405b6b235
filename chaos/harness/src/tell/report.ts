import type { Terms } from '../checks/evidence.js';
import type { Judgement } from '../checks/judge.js';
import type { Measures } from '../checks/measures.js';
import type { RunOptions } from '../options.js';
import type { Environment } from './environment.js';

/** One run, as it is written to a file. */
export interface Report {
  readonly scenario: string;
  readonly title: string;
  readonly seed: number;
  readonly isGreen: boolean;
  readonly startedAt: string;
  readonly tookSeconds: number;
  readonly options: RunOptions;
  /** Every setting of the services that differs from its default, and what the checks were held against. */
  readonly constants: { readonly settings: Readonly<Record<string, string>>; readonly terms: Terms };
  readonly environment: Environment;
  readonly measures: Measures;
  /** What the scenario itself measured. */
  readonly figures: Readonly<Record<string, unknown>>;
  readonly ending: { readonly tookMs: number; readonly limitMs: number };
  readonly judgements: readonly Judgement[];
}

/** "Rule of three": 0 of n bounds a rate at 3 / n with 95 % confidence. */
export function boundOf(count: number): string {
  return count === 0 ? 'says nothing' : `bounds the rate at 3 / ${count} with 95 % confidence`;
}

export function toMarkdown(report: Report): string {
  const { scenario, title, seed, isGreen, startedAt, tookSeconds, judgements } = report;
  return [
    `# ${scenario}, seed ${seed}: ${isGreen ? 'green' : 'RED'}`,
    '',
    `${title}. ${startedAt}, ${Math.round(tookSeconds)} s.`,
    '',
    '## What was found',
    '',
    ...table(['check', 'what it holds the run against', 'breaches'], judgements.map(rowOf)),
    ...judgements.filter(({ count }) => count > 0).flatMap(breachesOf),
    '## Figures',
    '',
    ...table(['what', 'how much'], figuresOf(report)),
    '## Constants',
    '',
    ...table(['what', 'value'], constantsOf(report)),
    '## Where',
    '',
    ...table(['what', 'value'], Object.entries(report.environment)),
  ].join('\n');
}

/** For the terminal. */
export function toLines({ judgements, measures, isGreen, scenario, seed, tookSeconds }: Report): readonly string[] {
  const { accepted, lost, double, kills, interrupted, started, killRate, duplicateRuns, lapses, recovery } = measures;
  const rate = `${interrupted} of ${started} executions (${(killRate * 100).toFixed(1)} %)`;
  return [
    ...judgements.map(
      (judgement) =>
        `  ${wordFor(judgement)}  ${judgement.check}${judgement.count === 0 ? '' : `: ${judgement.count}`}`,
    ),
    ...judgements.flatMap(({ breaches }) => breaches.slice(0, 3).map((breach) => `          ${breach}`)),
    `  ${accepted} accepted, ${lost} lost, ${double} fired twice (0 ${boundOf(accepted)})`,
    `  ${kills} kills interrupted ${rate}; ${lapses} lapses, ${duplicateRuns} duplicate runs`,
    `  kill → next start: p50 ${recovery.p50}, p99 ${recovery.p99}, max ${recovery.max} ms of ${recovery.count}`,
    `${isGreen ? 'green' : 'RED'}: ${scenario}, seed ${seed}, ${Math.round(tookSeconds)} s`,
  ];
}

function wordFor({ count, decides }: Judgement): string {
  if (count === 0) return 'holds ';
  return decides ? 'BROKEN' : 'slow  ';
}

function rowOf({ check, promise, count, decides }: Judgement): readonly [string, string, string] {
  const breaches = count === 0 ? '0' : `**${count}**`;
  return [`\`${check}\``, promise, decides ? breaches : `${breaches}, decides nothing here`];
}

function breachesOf({ check, breaches, count }: Judgement): string[] {
  const more = count > breaches.length ? [`- … and ${count - breaches.length} more`] : [];
  return [`### ${check}`, '', ...breaches.map((breach) => `- ${breach}`), ...more, ''];
}

function figuresOf({ measures, figures, ending }: Report): readonly (readonly [string, unknown])[] {
  return [
    ['accepted', measures.accepted],
    ['states at the end', measures.states],
    ['lost', `${measures.lost} (0 of ${measures.accepted} ${boundOf(measures.accepted)})`],
    ['fired twice', `${measures.double} (the same bound)`],
    ['executions started', measures.started],
    ['of these interrupted by SIGKILL', `${measures.interrupted} (${(measures.killRate * 100).toFixed(2)} %)`],
    ['kills of workers', measures.kills],
    ['by place', measures.killsByStratum],
    ['executions in flight at a kill', measures.inFlight],
    ['lapses', measures.lapses],
    ['duplicate runs', measures.duplicateRuns],
    ['lapses into quarantine', measures.quarantines],
    ['kill → next start, ms', measures.recovery],
    ['the same from quarantine, ms', measures.recoveryFromQuarantine],
    ['writes that the fence refused', measures.fencedWrites],
    ['runs that gave themselves up', measures.runsGivenUp],
    ['requests that were refused', measures.refusals],
    ['last fault → everything ended, ms', `${Math.round(ending.tookMs)} of ${Math.round(ending.limitMs)}`],
    ...Object.entries(figures),
  ];
}

function constantsOf({ options, constants }: Report): readonly (readonly [string, unknown])[] {
  return [...Object.entries(options), ...Object.entries(constants.terms), ...Object.entries(constants.settings)];
}

function table(head: readonly string[], rows: readonly (readonly unknown[])[]): string[] {
  const line = (cells: readonly unknown[]): string => `| ${cells.map(cellOf).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}

function cellOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, rounded);
  return text.replaceAll('|', String.raw`\|`);
}

/** A mean has more digits than it knows. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 1_000) / 1_000 : value;
}
