import type { SeededRandom } from '@deadman/testing';
import { STRATA } from '../run/lives.js';
import type { Stratum } from '../run/lives.js';

/** How a worker's next life is to end. */
export interface PlannedDeath {
  readonly stratum: Stratum;
  /** Age at which it dies, at the named place or, for `any_moment`, wherever it is. Milliseconds. */
  readonly ageMs: number;
}

/**
 * How strongly a life is shortened when too few runs are interrupted. A busy machine, on which every life comes out a third
 * too long, costs 5 % of the share with it, and no more. It settles within some kills.
 */
const GAIN = 8;

const [SHORTEST, LONGEST] = [0.4, 1.5];

/** Runs that would have to be over for what was seen to count as much as what was planned: the first deaths say little. */
const PATIENCE = 500;

export interface KillPlanOptions {
  /** Share of runs that kills are to interrupt. */
  readonly aim: number;
  /** Mean time of a run without faults. Milliseconds. */
  readonly runMs: number;
}

/** What a storm has come to so far. */
export interface StormSoFar {
  /** Runs that are over. */
  readonly over: number;
  /** Those of them that a kill has ended. */
  readonly interrupted: number;
  /** What a worker takes from its start to its first run, on this machine. Milliseconds. */
  readonly bootMs: number;
}

/**
 * Decides where and when each life of a worker ends. The places and the relation of the times to each other follow from the
 * seed alone; all times are scaled by one factor that holds the share of interrupted runs where it is wanted.
 *
 * A worker that runs its jobs without a pause starts, in a life of n mean runs, its slots n + 1 times over, and its death
 * interrupts them once: the share is 1 / (n + 1). It lives for that long from its first run on: one that died before would
 * interrupt nothing, and the fewer runs are interrupted, the shorter are the lives.
 */
export class KillPlan {
  readonly #dice: SeededRandom;
  readonly #options: KillPlanOptions;
  readonly #places: Stratum[] = [];

  constructor(dice: SeededRandom, options: KillPlanOptions) {
    this.#dice = dice;
    this.#options = options;
  }

  /** @param share of its usual length that this life is to have. */
  next({ over, interrupted, bootMs }: StormSoFar, share = 1): PlannedDeath {
    const { aim, runMs } = this.#options;
    const meanMs = runMs * (1 / aim - 1);
    const spread = 0.5 + this.#dice.next();
    const rate = (interrupted + aim * PATIENCE) / (over + PATIENCE);
    const factor = clamp((rate / aim) ** GAIN);
    return { stratum: this.#nextPlace(), ageMs: Math.round(bootMs + meanMs * spread * factor * share) };
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
