import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from './service-error.js';
import { parseLog, readLog } from './service-log.js';
import type { LogLine } from './service-log.js';
import type { ServiceRecord } from './service-record.js';

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Bound for a start on a busy machine, however many start at once. Milliseconds. */
const READY_WITHIN_MS = 180_000;

/** Time between two questions whether it is ready. Milliseconds. */
const ASK_EVERY_MS = 50;

/** Lines of the log that an error shows. */
const TAIL_LINES = 30;

/** What a health endpoint says. */
export interface Health {
  readonly status: 'up' | 'degraded' | 'down';
  readonly checks: Readonly<Record<string, { readonly status: 'up' | 'down'; readonly error?: string }>>;
}

/** One life of a service, from its start to its end. */
export class ServiceProcess {
  readonly record: ServiceRecord;
  readonly ended: Promise<End>;
  readonly #child: ChildProcess;
  readonly #logStart: number;
  #end: End | null = null;

  /** @param logStart how much its log had before it was started. */
  constructor(record: ServiceRecord, child: ChildProcess, logStart: number) {
    this.record = record;
    this.#child = child;
    this.#logStart = logStart;
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#end = { code, signal };
        resolve(this.#end);
      });
    });
  }

  get instance(): string {
    return this.record.instance;
  }

  get isRunning(): boolean {
    return this.#end === null;
  }

  /** Of the api. */
  get url(): string {
    return `http://127.0.0.1:${this.record.port}`;
  }

  get managementUrl(): string {
    return `http://127.0.0.1:${this.record.managementPort}`;
  }

  /** Sends a signal and does not wait. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it as a crash would, and waits until it has. */
  kill(): Promise<End> {
    this.signal('SIGKILL');
    return this.ended;
  }

  /** Asks it to end, and waits until it has. A process that stands still is woken first. */
  stop(): Promise<End> {
    this.signal('SIGTERM');
    this.resume();
    return this.ended;
  }

  /** Lets it stand still: its connections stay, and its clock goes on. */
  pause(): void {
    this.signal('SIGSTOP');
  }

  resume(): void {
    this.signal('SIGCONT');
  }

  /** Rejects when it ends before it is ready. */
  async untilReady(withinMs = READY_WITHIN_MS): Promise<void> {
    const deadlineMs = performance.now() + withinMs;
    for (;;) {
      if (this.#end !== null) throw this.#error(`ended with ${JSON.stringify(this.#end)}`);
      const why = await this.#whyNotReady();
      if (why === null) return;
      if (performance.now() > deadlineMs) throw this.#error(`is not ready: ${why}`);
      await sleep(ASK_EVERY_MS);
    }
  }

  async health(which: 'live' | 'ready' | 'startup'): Promise<Health> {
    return (await (await fetch(`${this.managementUrl}/health/${which}`)).json()) as Health;
  }

  /** The sum of a metric over all its labels that match; the prefix `deadman_` is understood. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const text = await (await fetch(`${this.managementUrl}/metrics`)).text();
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const lines = text.split('\n').filter((line) => new RegExp(`^deadman_${name}[ {]`).test(line));
    const matching = lines.filter((line) => wanted.every((label) => line.includes(label)));
    return matching.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  /** What it has said in this life. */
  lines(event?: string): readonly LogLine[] {
    const lines = parseLog(this.said);
    return event === undefined ? lines : lines.filter((line) => line.event === event);
  }

  /** The same as text, with what is no line of its log. */
  get said(): string {
    return readLog(this.record.log, this.#logStart);
  }

  async #whyNotReady(): Promise<string | null> {
    try {
      const health = await this.health('ready');
      return health.status === 'down' ? JSON.stringify(health.checks) : null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #error(what: string): ServiceError {
    const tail = this.said.split('\n').slice(-TAIL_LINES).join('\n');
    return new ServiceError(`${this.instance} ${what}\n${tail}`);
  }
}
