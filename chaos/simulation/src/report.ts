import { TTL_MS } from './deployment.js';
import { MARKS } from './fault-marks.js';
import { CORNERS } from './situations.js';
import type { Totals } from './totals.js';

/** What a run came to, for people. */
export function toReport(totals: Totals, seconds: number, verbose: boolean): string {
  const { sums, slowest, schedules, situations } = totals;
  const perMinute = Math.round((schedules * 60) / Math.max(seconds, 0.001));
  const lines = [
    `${schedules} schedules in ${seconds.toFixed(1)} s (${perMinute} a minute), leases of ${TTL_MS / 1_000} s`,
    row('rules broken', totals.failures.length),
    row('jobs', sums.jobs),
    row('executions', sums.executions),
    row('duplicate runs', sums.duplicates),
    row('effects without a guard, made again', situations.of('effect fired again')),
    row('reaps', sums.reaps),
    row('  of these false', sums.falseReaps),
    row('reaps without a failover', sums.calmReaps),
    row('  of these false', `${sums.calmFalseReaps} (${(totals.falseReapShare * 100).toFixed(3)} %)`),
    row('slowest job after the faults', `${(slowest.ms / 1_000).toFixed(1)} s (seed ${slowest.seed})`),
    row('events', sums.events),
    row('trace of all schedules', totals.trace),
    '',
    'situations',
    ...CORNERS.map((what) => row(`  ${what}`, situations.of(what))),
    '',
    'faults, where they took effect',
    ...MARKS.map((what) => row(`  ${what}`, situations.of(what))),
  ];
  if (verbose)
    lines.push(
      '',
      'all counters',
      ...Object.entries(situations.toRecord()).map(([what, count]) => row(`  ${what}`, count)),
    );
  return lines.join('\n');
}

function row(what: string, value: number | string): string {
  const text = typeof value === 'number' ? value.toLocaleString('en') : value;
  return `${what.padEnd(52)} ${text.padStart(12)}`;
}
