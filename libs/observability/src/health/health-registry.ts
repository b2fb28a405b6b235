import { EngineEvents } from '@deadman/domain';
import type { Clock, EngineEvent } from '@deadman/domain';
import type { ServiceInfo } from '../service-info.js';
import { BackgroundCheck, DEFAULT_TIMING } from './background-check.js';
import type { CheckTiming, HealthCheck, OnChange } from './background-check.js';
import { statusOf } from './health-report.js';
import type { CheckReport, HealthReport } from './health-report.js';
import { WatchedLoop } from './watched-loop.js';

type Checks = Readonly<Record<string, CheckReport>>;

/**
 * How the service is.
 *
 * Live    its loops turn. Depends on the process alone: a restart mends no database.
 * Ready   every critical check is up and it is not draining. Other checks that are down make it degraded, which is ready.
 * Started it was ready once.
 *
 * It listens to the engine's events for the turns of loops.
 */
export class HealthRegistry extends EngineEvents {
  readonly #info: ServiceInfo;
  readonly #clock: Clock;
  readonly #timing: CheckTiming;
  readonly #startedAtMs: number;
  readonly #checks: BackgroundCheck[] = [];
  readonly #loops = new Map<string, WatchedLoop>();
  readonly #listeners: OnChange[] = [];
  #stopping: AbortController | null = null;
  #drainingSince: Date | null = null;
  #hasBeenReady = false;

  constructor(info: ServiceInfo, clock: Clock, timing: Partial<CheckTiming> = {}) {
    super();
    this.#info = info;
    this.#clock = clock;
    this.#timing = { ...DEFAULT_TIMING, ...timing };
    this.#startedAtMs = clock.monotonicMs();
  }

  /** Before `start`. Two checks of one name are a bug. */
  add(check: HealthCheck): void {
    if (this.#checks.some(({ name }) => name === check.name))
      throw new TypeError(`Two checks are called ${check.name}`);
    const onChange: OnChange = (name, report) => this.#listeners.forEach((listener) => listener(name, report));
    this.#checks.push(new BackgroundCheck(check, this.#timing, this.#clock, onChange));
  }

  /** Liveness from now on depends on this loop's turns. */
  watchLoop(name: string, silentAfterMs: number): void {
    this.#loops.set(name, new WatchedLoop(name, silentAfterMs, this.#clock));
  }

  /** A watched loop ended for good although nobody asked it to: only a restart helps. */
  loopStopped(name: string, reason: string): void {
    this.#loops.get(name)?.stopped(reason);
  }

  override emit(event: EngineEvent): void {
    if (event.kind === 'loop-turned') this.#loops.get(event.loop)?.turned();
  }

  /** Calls back whenever a check goes up or down. */
  onChange(listener: OnChange): void {
    this.#listeners.push(listener);
  }

  /** Resolves when every check ran once. They go on in the background until `stop`. */
  async start(): Promise<void> {
    const stopping = new AbortController();
    this.#stopping = stopping;
    await Promise.all(this.#checks.map((check) => check.runOnce()));
    for (const check of this.#checks) void this.#goOn(check, stopping.signal);
  }

  /** Something has changed that checks look at: they look now, so that nobody waits for their next turn. */
  async recheck(): Promise<void> {
    await Promise.all(this.#checks.map((check) => check.runNow()));
  }

  stop(): void {
    this.#stopping?.abort();
  }

  /** Not ready from now on; the process goes on until its work is done. */
  drain(): void {
    this.#drainingSince ??= this.#clock.now();
  }

  live(): HealthReport {
    return this.#report(Object.fromEntries([...this.#loops].map(([name, loop]) => [name, loop.report()])));
  }

  ready(): HealthReport {
    const report = this.#report({ ...this.#checkReports(), ...this.#shutdownReport() });
    this.#hasBeenReady ||= report.status !== 'down';
    return report;
  }

  /** As `ready` until that was the case once; up ever after. */
  startup(): HealthReport {
    const report = this.ready();
    return this.#hasBeenReady ? this.#report({}) : report;
  }

  async #goOn(check: BackgroundCheck, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(this.#timing.periodMs, signal);
    await check.run(signal);
  }

  #checkReports(): Checks {
    return Object.fromEntries(this.#checks.map((check) => [check.name, check.report()]));
  }

  #shutdownReport(): Checks {
    if (this.#drainingSince === null) return {};
    const since = this.#drainingSince.toISOString();
    const effect = 'takes no new work and finishes what runs';
    return { shutdown: { status: 'down', critical: true, since, error: 'draining', effect } };
  }

  #report(checks: Checks): HealthReport {
    const uptimeSeconds = Math.floor((this.#clock.monotonicMs() - this.#startedAtMs) / 1_000);
    const { service, instance, version } = this.#info;
    return { status: statusOf(checks), service, instance, version, uptimeSeconds, checks };
  }
}
