import { SeededRandom } from '@deadman/testing';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Evidence } from '../checks/evidence.js';
import { OUTBOX } from '../checks/gather.js';
import type { Finding } from '../checks/judge.js';
import { ClientLedger } from '../load/client-ledger.js';
import { Client } from '../load/client.js';
import type { JobRequest } from '../load/client.js';
import { Load } from '../load/load.js';
import type { Options } from '../options.js';
import type { Site } from './site.js';
import { Watch } from './watch.js';

/** Mean time of a job without faults. Milliseconds (faults.md: about 3 s on 256 slots gives the arithmetic of the gate). */
const RUN_MS = 3_000;

/** However small the scale: shorter runs than this are over before a kill can find them. Milliseconds. */
const LEAST_RUN_MS = 1_000;

const PER_BATCH = 50;
const CLIENTS = 4;

/**
 * Open jobs, in multiples of all slots, from which on clients wait: one part runs, nearly another one waits for leases to
 * lapse, and the rest fills every worker that comes back. A deeper backlog would measure itself: a job that lost its worker
 * goes before those that came after it, and waits for those that came before.
 */
const WINDOW = 2.5;

export interface BatchOfJobs {
  readonly jobs: number;
  readonly type?: string;
  /** Least and longest time of a run. Milliseconds; by default half and one and a half times the usual. */
  readonly runMs?: readonly [number, number];
  readonly more?: object;
  readonly window?: number;
  readonly perBatch?: number;
}

/** Where a scenario acts: the services, clients who write down what they are told, dice, and a place for what it finds. */
export class Stage {
  readonly site: Site;
  readonly options: Options;
  readonly seed: number;
  readonly client: Client;
  readonly ledger: ClientLedger;
  readonly watch: Watch;
  readonly findings: Finding[] = [];
  readonly figures: Record<string, unknown> = {};
  /** Aborts when somebody has had enough. */
  readonly stop: AbortSignal;
  #doing = '';
  #submitted = 0;

  constructor(site: Site, options: Options, seed: number, stop: AbortSignal, onLook: (stage: Stage) => void) {
    this.site = site;
    this.options = options;
    this.seed = seed;
    this.stop = stop;
    this.client = new Client(() => site.apiUrls);
    this.ledger = new ClientLedger(join(site.folder, 'accepted'));
    this.watch = new Watch(site.sql, () => onLook(this));
  }

  get doing(): string {
    return this.#doing;
  }

  /** Says what goes on, to whoever looks at the progress. */
  say(what: string): void {
    this.#doing = what;
  }

  /** Dice of its own for each purpose, so that one more throw here changes nothing there. */
  dice(purpose: string): SeededRandom {
    let seed = this.seed;
    for (const character of purpose) seed = Math.imul(seed ^ character.charCodeAt(0), 0x01000193);
    return new SeededRandom(seed);
  }

  /** A duration that is scaled. Milliseconds. */
  scaledMs(ms: number, leastMs = 0): number {
    return Math.max(leastMs, Math.round(ms * this.options.timeScale));
  }

  /** A count that is scaled. */
  scaled(count: number, least = 1): number {
    return Math.max(least, Math.round(count * this.options.timeScale));
  }

  /** Mean time of a run. Milliseconds. */
  get runMs(): number {
    return this.scaledMs(RUN_MS, LEAST_RUN_MS);
  }

  get slots(): number {
    return this.options.workers * this.options.slots;
  }

  get open(): number {
    return this.ledger.accepted.length - this.watch.ended;
  }

  /** Hands jobs in and resolves when all are accepted. */
  async submit({
    jobs,
    type = 'chaos.fire',
    runMs,
    more = {},
    window,
    perBatch = PER_BATCH,
  }: BatchOfJobs): Promise<void> {
    const first = this.#submitted;
    this.#submitted += jobs;
    const [least, most] = runMs ?? [this.runMs / 2, this.runMs * 1.5];
    const dice = this.dice(`run times from ${first}`);
    const times = Array.from({ length: jobs }, () => dice.integer(least, most));
    const jobOf = (index: number): JobRequest => ({
      type,
      queue: this.site.queue,
      payload: { ms: times[index] },
      idempotencyKey: `${this.seed}-${first + index}`,
      ...more,
    });
    const shape = { jobs, jobOf, perBatch, clients: CLIENTS, window: window ?? Math.ceil(WINDOW * this.slots) };
    this.figures['open jobs, at most, for which clients wait'] = shape.window;
    await new Load(this.client, this.ledger, () => this.watch.ended, this.stop, shape).run();
  }

  /** Hands jobs in without an end, as fast as the window allows, until it is told to stop. */
  flow(batch: Omit<BatchOfJobs, 'jobs'>): { stop(): Promise<void> } {
    let isOver = false;
    const flowing = (async (): Promise<void> => {
      while (!isOver && !this.stop.aborted) await this.submit({ ...batch, jobs: PER_BATCH * CLIENTS });
    })();
    return {
      stop: () => {
        isOver = true;
        return flowing;
      },
    };
  }

  /** Waits, unless somebody has had enough. */
  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stop }).catch(() => undefined);
  }

  find(check: string, promise: string, breaches: readonly string[]): void {
    this.findings.push({ check, promise, breaches });
  }

  /** Waits until `holds`. Answers whether it did within the bound. */
  async until(holds: () => boolean | Promise<boolean>, withinMs: number, everyMs = 100): Promise<boolean> {
    const deadlineMs = performance.now() + withinMs;
    while (!this.stop.aborted && performance.now() < deadlineMs) {
      if (await holds()) return true;
      await sleep(everyMs);
    }
    return false;
  }

  /**
   * The faults are over: everything ends within the bound of G9, what was not told yet is told within it, too (a row of the
   * outbox that could not be sent waits for up to a minute, its job done or not), and then nothing happens for longer than
   * a TTL.
   */
  async untilAllEnded(extraMs: number): Promise<Evidence['ending']> {
    const { ttlMs } = this.options;
    this.say('the faults are over; everything has to end now');
    const drainMs = (2 * this.open * this.runMs) / this.slots;
    const limitMs = 4 * ttlMs + 90_000 + 2 * this.runMs + drainMs + extraMs;
    const begunMs = performance.now();
    const inTime = await this.until(() => this.open <= 0 && this.watch.unended === 0, limitMs);
    const tookMs = performance.now() - begunMs;
    this.say('everything has ended; what is left to be told is told now');
    await this.until(async () => (await this.site.sql.row<{ count: number }>(OUTBOX)).count === 0, limitMs, 500);
    this.say('everything has ended; nothing may happen any more');
    await sleep(ttlMs + 1_000);
    return { inTime, tookMs, limitMs };
  }

  async close(): Promise<void> {
    await this.watch.stop();
    this.ledger.close();
  }
}
