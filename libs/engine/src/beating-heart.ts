import type { CancelledClaim } from '@deadman/domain';
import { runLoop } from './loop.js';
import { Heartbeat } from './heartbeat.js';
import type { HeartbeatDeps, HeartbeatOptions } from './heartbeat.js';
import type { HeartNews } from './heart.js';
import { Holdings } from './holdings.js';
import type { Holding } from './holdings.js';
import { runKey } from './run.js';

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

  /** A cancel may be faster than the claim that it is for; it is told once its run is where its worker can stop it. */
  hear(news: HeartNews): void {
    if (news.kind === 'cancel-noticed') return this.#cancel(news.claims);
    const cancelled = news.kind === 'claim-ended' ? this.#holdings.cancelledEarly(news.token) : [];
    this.#holdings.apply(news);
    this.#tellCancelled(cancelled);
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

  /**
   * A notice said that a cancel was asked for these: runs that are held here are told at once instead of with the next beat,
   * and those that a claim under way brings, with its end. Not to be called while news are being heard.
   */
  cancel(claims: readonly CancelledClaim[]): void {
    this.#deps.catchUp();
    this.#cancel(claims);
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

  #cancel(claims: readonly CancelledClaim[]): void {
    this.#tellCancelled(claims.flatMap((claim) => this.#holdings.find(runKey(claim)) ?? []));
    for (const claim of claims) this.#holdings.cancelEarly(claim);
  }

  #tellCancelled(runs: readonly Holding[]): void {
    if (runs.length > 0) this.#deps.say({ kind: 'cancel-asked', keys: runs.map(({ key }) => key) });
  }

  async #beat(): Promise<boolean> {
    const isRegistered = await this.#heartbeat.beat();
    this.#deps.say({ kind: 'beaten', isRegistered });
    return isRegistered;
  }
}
