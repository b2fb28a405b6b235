import type { Clock } from '@deadman/domain';
import type { CheckReport } from './health-report.js';

/** A loop that has to keep turning for the process to count as alive, whatever the outcome of its turns. */
export class WatchedLoop {
  readonly name: string;
  readonly #silentAfterMs: number;
  readonly #clock: Clock;
  #turnedAtMs: number;
  #turnedAt: Date;
  #stopReason: string | null = null;

  /** Counts as having turned when it is first watched. */
  constructor(name: string, silentAfterMs: number, clock: Clock) {
    this.name = name;
    this.#silentAfterMs = silentAfterMs;
    this.#clock = clock;
    this.#turnedAtMs = clock.monotonicMs();
    this.#turnedAt = clock.now();
  }

  turned(): void {
    this.#turnedAtMs = this.#clock.monotonicMs();
    this.#turnedAt = this.#clock.now();
  }

  /** It will never turn again. */
  stopped(reason: string): void {
    this.#stopReason ??= reason;
  }

  report(): CheckReport {
    const ageMs = Math.round(this.#clock.monotonicMs() - this.#turnedAtMs);
    const about = { critical: true, ageMs, lastOkAt: this.#turnedAt.toISOString() };
    const error = this.#stopReason ?? (ageMs > this.#silentAfterMs ? `has not turned for ${ageMs} ms` : null);
    return error === null ? { status: 'up', ...about } : { status: 'down', ...about, error };
  }
}
