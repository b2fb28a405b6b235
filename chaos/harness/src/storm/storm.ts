import type { Settings } from '@deadman/services';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveProcess, Site } from '../run/site.js';
import type { KillCount } from './kill-count.js';
import type { KillPlan, PlannedDeath } from './kill-plan.js';

/**
 * How long a worker may outlive the age at which it was to die at a named place that it does not come by. Milliseconds. It
 * counts its age from when it read its settings, which on a busy machine is some seconds after its launch.
 */
const OVERDUE_MS = 10_000;

/** How often a storm that is to end looks whether it has. Milliseconds. */
const LOOK_EVERY_MS = 50;

/**
 * Lets workers live and die by a plan, and starts each dead one again at once. A death at a named place is the worker's own:
 * it was told at its start where, and from which age on (`DEADMAN_FAILPOINT`). Any other is a SIGKILL from here.
 */
export class Storm {
  readonly #site: Site;
  readonly #plan: KillPlan;
  readonly #count: KillCount;
  readonly #ended = new AbortController();
  readonly #lives: Promise<void>[] = [];
  /** Why it broke off: a worker that cannot start, for instance. */
  failure: unknown = null;

  constructor(site: Site, plan: KillPlan, count: KillCount) {
    this.#site = site;
    this.#plan = plan;
    this.#count = count;
  }

  start(workers: readonly string[]): void {
    for (const [index, worker] of workers.entries()) {
      const living = this.#liveAndDie(worker, (2 * index + 1) / workers.length);
      this.#lives.push(living.catch((error: unknown) => void (this.failure ??= error)));
    }
  }

  /**
   * Plans no more deaths. Those that are planned still come, since a failpoint cannot be taken back; resolves when every
   * worker is one that nobody will kill.
   */
  async stop(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#lives);
  }

  /** All are started at once; first lives of unequal length, which is the usual one on average, spread their deaths. */
  async #liveAndDie(worker: string, firstShare: number): Promise<void> {
    for (let share = firstShare; !this.#ended.signal.aborted; share = 1) {
      this.#count.look(this.#site.lives);
      const isSpared = await this.#live(worker, this.#plan.next(this.#count, share));
      if (isSpared) return;
    }
    await this.#site.launch('worker', worker);
  }

  /** Returns whether the worker lives on, because the storm ended before it. */
  async #live(worker: string, death: PlannedDeath): Promise<boolean> {
    const { stratum, ageMs } = death;
    const isOutside = stratum === 'any_moment';
    const settings: Settings = isOutside ? {} : { DEADMAN_FAILPOINT: `${stratum}:kill@${ageMs}ms` };
    const live = await this.#site.launch('worker', worker, settings);
    live.life.stratum = stratum;
    const { ended } = live.process;
    const deadlineMs = performance.now() + (isOutside ? ageMs : ageMs + OVERDUE_MS);
    while (live.process.isRunning && performance.now() < deadlineMs) {
      if (isOutside && this.#ended.signal.aborted) return this.#spare(live);
      await sleep(LOOK_EVERY_MS);
    }
    if (live.process.isRunning) this.#kill(live);
    const { signal } = await ended;
    if (signal !== 'SIGKILL') throw new Error(`${worker} ended by itself; see its log in ${this.#site.folder}`);
    return false;
  }

  #spare({ life }: LiveProcess): true {
    life.stratum = null;
    return true;
  }

  /** Also one that has not come by the place that was named for it: its death, too, is one at any moment. */
  #kill({ process, life }: LiveProcess): void {
    life.stratum = 'any_moment';
    process.signal('SIGKILL');
  }
}
