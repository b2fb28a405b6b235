import type { SeededRandom } from '@deadman/testing';
import { STRATA } from '../run/lives.js';
import type { Stratum } from '../run/lives.js';

/** How a worker's next life is to end. */
export interface PlannedDeath {
  readonly stratum: Stratum;
  /** Age at which it dies, at the named place or, for `any_moment`, wherever it is. Milliseconds. */
  readonly ageMs: number;
}

/** A rate above the one that is asked for, so that the last runs, which nobody kills any more, do not push it below. */
const AIM = 1.06;

/** How strongly a life is shortened when too few runs are interrupted; a guess that settles within some kills. */
const GAIN = 4;

const [SHORTEST, LONGEST] = [0.35, 2.5];

/** A worker that has just been started runs nothing for about this long. Milliseconds, measured on two busy cores. */
const BOOT_MS = 2_500;

export interface KillPlanOptions {
  readonly killRate: number;
  /** Mean time of a run without faults. Milliseconds. */
  readonly runMs: number;
}

/**
 * Decides where and when each life of a worker ends. The places and the relation of the ages to each other follow from the
 * seed alone; all ages are scaled by one factor that holds the share of interrupted runs where it is wanted.
 *
 * A worker that runs its jobs without a pause starts, in a life of n mean runs, its slots n + 1 times over, and its death
 * interrupts them once: the share is 1 / (n + 1).
 */
export class KillPlan {
  readonly #dice: SeededRandom;
  readonly #options: KillPlanOptions;
  readonly #places: Stratum[] = [];

  constructor(dice: SeededRandom, options: KillPlanOptions) {
    this.#dice = dice;
    this.#options = options;
  }

  /** @param achieved share of started runs that kills have interrupted so far; null while there is none. */
  next(achieved: number | null): PlannedDeath {
    const { killRate, runMs } = this.#options;
    const aim = Math.min(0.95, killRate * AIM);
    const meanMs = BOOT_MS + runMs * (1 / aim - 1);
    const spread = 0.5 + this.#dice.next();
    const factor = achieved === null ? 1 : clamp((achieved / aim) ** GAIN);
    return { stratum: this.#nextPlace(), ageMs: Math.round(meanMs * spread * factor) };
  }

  /** Each place once, in an order by chance, before any comes again: a short storm meets all of them too. */
  #nextPlace(): Stratum {
    if (this.#places.length === 0) this.#places.push(...this.#dice.shuffle([...STRATA]));
    return this.#places.pop()!;
  }
}

function clamp(factor: number): number {
  return Math.min(LONGEST, Math.max(SHORTEST, factor));
}
