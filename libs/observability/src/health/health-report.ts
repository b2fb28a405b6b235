import type { ServiceInfo } from '../service-info.js';

/** The last result of one check, as the body shows it. Members without a value are left out. */
export interface CheckReport {
  readonly status: 'up' | 'down';
  /** Decides whether the service is down without it, or only degraded. */
  readonly critical: boolean;
  /** How long the last success took. */
  readonly latencyMs?: number;
  /** How old this result is. */
  readonly ageMs?: number;
  readonly lastOkAt?: string;
  /** Since when it is down. */
  readonly since?: string;
  readonly error?: string;
  /** What its being down means for users. */
  readonly effect?: string;
}

/** The body of `/health/…`. `degraded` is still a 200. */
export interface HealthReport extends ServiceInfo {
  readonly status: 'up' | 'degraded' | 'down';
  readonly uptimeSeconds: number;
  readonly checks: Readonly<Record<string, CheckReport>>;
}

/** Down when a critical check is, degraded when another one is. */
export function statusOf(checks: Readonly<Record<string, CheckReport>>): HealthReport['status'] {
  const down = Object.values(checks).filter(({ status }) => status === 'down');
  if (down.some(({ critical }) => critical)) return 'down';
  return down.length > 0 ? 'degraded' : 'up';
}
