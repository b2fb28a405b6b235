import type { SqlProbe } from '@deadman/testing';
import { setTimeout as sleep } from 'node:timers/promises';

const STATES = `SELECT state, count(*)::integer AS count FROM deadman.jobs GROUP BY state`;

const ENDED = ['SUCCEEDED', 'DEAD', 'CANCELLED'];

/** Time between two looks, and how many times as long as the look itself it has to be. Milliseconds. */
const LOOK_EVERY_MS = 1_000;
const SHARE_OF_LOOKING = 20;

/**
 * Looks about once a second how many jobs are in which state; for progress, and for clients that wait for room. It counts
 * them all, which takes longer the more there are, and must not take the machine from what it looks at.
 */
export class Watch {
  readonly #sql: SqlProbe;
  readonly #ending = new AbortController();
  readonly #looking: Promise<void>;
  states: Readonly<Record<string, number>> = {};

  /** @param onLook is called after each look, also when the database did not answer. */
  constructor(sql: SqlProbe, onLook: () => void) {
    this.#sql = sql;
    this.#looking = this.#look(onLook);
  }

  /** Jobs that have ended, at the last look. */
  get ended(): number {
    return ENDED.reduce((sum, state) => sum + (this.states[state] ?? 0), 0);
  }

  /** Jobs that have not, at the last look. */
  get unended(): number {
    return Object.values(this.states).reduce((sum, count) => sum + count, 0) - this.ended;
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#looking;
  }

  async #look(onLook: () => void): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const begunMs = performance.now();
      // A database that a fault has taken away is asked again.
      await this.#count().catch(() => undefined);
      onLook();
      const pauseMs = Math.max(LOOK_EVERY_MS, SHARE_OF_LOOKING * (performance.now() - begunMs));
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #count(): Promise<void> {
    const rows = await this.#sql.rows<{ state: string; count: number }>(STATES);
    this.states = Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  }
}
