import { runLoop } from './loop.js';
import { Heartbeat } from './heartbeat.js';
import type { HeartbeatDeps, HeartbeatOptions } from './heartbeat.js';
import type { HeartNews } from './heart.js';
import { Holdings } from './holdings.js';

/** Longest pause between two beats until the first one was written, since nothing is claimed before. Milliseconds. */
const FIRST_BEAT_EVERY_MS = 1_000;

export type BeatingHeartDeps = Omit<HeartbeatDeps, 'holdings'>;

/** The heart itself, wherever it beats: what it knows of the worker, and the loop of its beats. */
export class BeatingHeart {
  readonly #deps: BeatingHeartDeps;
  readonly #options: HeartbeatOptions;
  readonly #holdings = new Holdings();
  readonly #heartbeat: Heartbeat;
  readonly #stopping = new AbortController();
  #beating: Promise<void> = Promise.resolve();

  constructor(deps: BeatingHeartDeps, options: HeartbeatOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#heartbeat = new Heartbeat({ ...deps, holdings: this.#holdings }, options);
  }

  hear(news: HeartNews): void {
    this.#holdings.apply(news);
  }

  /** Counts from the start of a beat to that of the next: a store that lets a beat wait does not thin them out. */
  start(): void {
    const { clock, random, events } = this.#deps;
    const { beatMs } = this.#options.policy;
    let periodMs = Math.min(beatMs, FIRST_BEAT_EVERY_MS);
    let nextAtMs = 0;
    const turn = async (): Promise<void> => {
      const beganAtMs = clock.monotonicMs();
      if (await this.#beat()) periodMs = beatMs;
      nextAtMs = beganAtMs + periodMs;
    };
    const everyMs = (): number => Math.max(0, nextAtMs - clock.monotonicMs());
    const signal = this.#stopping.signal;
    this.#beating = runLoop({ name: 'heartbeat', everyMs, turn, clock, random, events, signal });
  }

  /** One more beat, now. */
  async beat(): Promise<void> {
    await this.#beat();
  }

  /** A cancel was asked for these jobs: those that are held here are told at once instead of with the next beat. */
  cancel(jobIds: readonly string[]): void {
    const wanted = new Set(jobIds);
    const held = this.#holdings.all().filter(({ lease }) => wanted.has(lease.jobId));
    if (held.length > 0) this.#deps.say({ kind: 'cancel-asked', keys: held.map(({ key }) => key) });
  }

  /** Whether a handler should have ended by now, and its worker, if it lives, have given it up. */
  isAnyOverdue(): boolean {
    const nowMs = this.#deps.clock.monotonicMs();
    return this.#holdings.all().some((run) => !run.isSettling && run.isOverdue(nowMs, this.#options.policy));
  }

  /** Resolves when no beat is under way any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#beating;
  }

  async #beat(): Promise<boolean> {
    const isRegistered = await this.#heartbeat.beat();
    this.#deps.say({ kind: 'beaten', isRegistered });
    return isRegistered;
  }
}
