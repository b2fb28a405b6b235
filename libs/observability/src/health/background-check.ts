import type { Clock } from '@deadman/domain';
import { toErrorFields } from '../logs/error-fields.js';
import type { CheckReport } from './health-report.js';

/** Something the service depends on. */
export interface HealthCheck {
  readonly name: string;
  /** Whether the service cannot be ready without it. */
  readonly critical: boolean;
  /** What its being down means for users, in a few words. */
  readonly effect?: string;
  /** Resolves when all is well, and rejects when not. The signal is aborted when its time is up. */
  check(signal: AbortSignal): Promise<void>;
}

/** Times and thresholds of checks. */
export interface CheckTiming {
  /** Pause between two runs of a check. Milliseconds, default 5 000. */
  readonly periodMs: number;
  /** Time that a run may take. Milliseconds, default 1 000. */
  readonly timeoutMs: number;
}

export const DEFAULT_TIMING: CheckTiming = { periodMs: 5_000, timeoutMs: 1_000 };

/** Failures in a row that take a check from up to down: one alone may be a hiccup. One success brings it back. */
const FAILURES_TO_GO_DOWN = 2;

/** Tells that a check went up or down, its first result included. */
export type OnChange = (name: string, report: CheckReport) => void;

/** Runs one check again and again, so that probes read a result and never cause a run. Down until its first success. */
export class BackgroundCheck {
  readonly #check: HealthCheck;
  readonly #timing: CheckTiming;
  readonly #clock: Clock;
  readonly #onChange: OnChange;
  /** The run under way, which may have outlived its time. */
  #running: Promise<void> | null = null;
  /** Null before the first run. */
  #isUp: boolean | null = null;
  #failuresInRow = 0;
  #latencyMs: number | null = null;
  #checkedAtMs: number | null = null;
  #lastOkAt: Date | null = null;
  #downSince: Date;
  #error = 'not checked yet';

  constructor(check: HealthCheck, timing: CheckTiming, clock: Clock, onChange: OnChange) {
    this.#check = check;
    this.#timing = timing;
    this.#clock = clock;
    this.#onChange = onChange;
    this.#downSince = clock.now();
  }

  get name(): string {
    return this.#check.name;
  }

  get isCritical(): boolean {
    return this.#check.critical;
  }

  /** Checks until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.runOnce();
      await this.#clock.sleep(this.#timing.periodMs, signal);
    }
  }

  /** One run. A run that outlived its time is still the only one: checks never pile up on what is sick. */
  async runOnce(): Promise<void> {
    const startedMs = this.#clock.monotonicMs();
    const error = this.#running === null ? await this.#attempt() : 'the last check has not returned yet';
    this.#checkedAtMs = this.#clock.monotonicMs();
    if (error === null) this.#succeeded(this.#checkedAtMs - startedMs);
    else this.#failed(error);
  }

  /** One run ahead of its time, unless one is under way. */
  async runNow(): Promise<void> {
    if (this.#running === null) await this.runOnce();
  }

  report(): CheckReport {
    const { critical, effect } = this.#check;
    const ageMs =
      this.#checkedAtMs === null ? {} : { ageMs: Math.round(this.#clock.monotonicMs() - this.#checkedAtMs) };
    const lastOkAt = this.#lastOkAt === null ? {} : { lastOkAt: this.#lastOkAt.toISOString() };
    if (this.#isUp) return { status: 'up', critical, latencyMs: this.#latencyMs ?? 0, ...ageMs, ...lastOkAt };
    const since = this.#downSince.toISOString();
    return { status: 'down', critical, since, ...ageMs, ...lastOkAt, error: this.#error, ...(effect && { effect }) };
  }

  /** Null when it went well, else what went wrong. */
  async #attempt(): Promise<string | null> {
    const { timeoutMs } = this.#timing;
    const aborter = new AbortController();
    const finished = new AbortController();
    const run = this.#start(aborter.signal);
    const timedOut = this.#clock.sleep(timeoutMs, finished.signal).then(() => `no answer within ${timeoutMs} ms`);
    const error = await Promise.race([run, timedOut]);
    finished.abort();
    aborter.abort();
    return error;
  }

  async #start(signal: AbortSignal): Promise<string | null> {
    const running = Promise.resolve().then(() => this.#check.check(signal));
    this.#running = running;
    try {
      await running;
      return null;
    } catch (error) {
      return shortly(error);
    } finally {
      this.#running = null;
    }
  }

  #succeeded(latencyMs: number): void {
    const wasUp = this.#isUp === true;
    this.#isUp = true;
    this.#failuresInRow = 0;
    this.#latencyMs = Math.round(latencyMs);
    this.#lastOkAt = this.#clock.now();
    if (!wasUp) this.#onChange(this.name, this.report());
  }

  #failed(error: string): void {
    this.#failuresInRow += 1;
    this.#error = error;
    const isHiccup = this.#isUp === true && this.#failuresInRow < FAILURES_TO_GO_DOWN;
    if (isHiccup || this.#isUp === false) return;
    this.#isUp = false;
    this.#downSince = this.#clock.now();
    this.#onChange(this.name, this.report());
  }
}

/** What a server of SQL calls its errors by. Nobody knows them by heart, and the message beside them is short. */
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** The nearest thing to a root cause: the last code in the chain, else the message. */
function shortly(error: unknown): string {
  const fields = toErrorFields(error);
  const { code, message } = [fields, ...(fields.causes ?? [])].findLast((one) => one.code !== undefined) ?? fields;
  return code === undefined || SQLSTATE.test(code) ? message : code;
}
