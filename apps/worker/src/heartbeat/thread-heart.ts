import { Silence } from '@deadman/domain';
import type { Clock, EngineEvents, Timer } from '@deadman/domain';
import { Heart } from '@deadman/engine';
import type { HeartNews, HeartWord } from '@deadman/engine';
import type { MessagePort } from 'node:worker_threads';
import type { FromHeart, ToHeart } from './messages.js';
import { ThreadLink } from './thread-link.js';
import { fromWireEvent } from './wire-error.js';

export interface ThreadHeartDeps {
  readonly clock: Clock;
  /** Gets what the heart tells of its beats. */
  readonly events: EngineEvents;
  /** Starts the thread with its end of a channel. */
  readonly startThread: (port: MessagePort) => HeartThread;
  /** Our end of that channel. */
  readonly ports: { readonly near: MessagePort; readonly far: MessagePort };
  /** The heart has stopped, and nothing renews what this worker holds: the process must end. */
  readonly onDeath: (error: Error) => void;
}

export interface HeartThread {
  /** Resolves when the thread has ended, with the error that ended it, if there was one. */
  readonly ended: Promise<Error | null>;
}

export interface ThreadHeartOptions {
  /** Time between two signs of life. Milliseconds. */
  readonly pulseMs: number;
  /** Silence of the heart after which it counts as dead: a TTL, in which what is held goes stale. Milliseconds. */
  readonly silentAfterMs: number;
}

/** How long the thread may take to start. Nothing is claimed before its first beat. Milliseconds; a busy machine takes seconds. */
const STARTS_WITHIN_MS = 30_000;

/** The worker's side of a heart that beats in a thread of its own. */
export class ThreadHeart extends Heart {
  readonly #deps: ThreadHeartDeps;
  readonly #options: ThreadHeartOptions;
  readonly #link: ThreadLink<FromHeart, ToHeart>;
  readonly #silence: Silence;
  #thread: HeartThread | null = null;
  #hear: (word: HeartWord) => void = () => {};
  #untold: HeartNews[] = [];
  /** Something was heard of the thread: it has started. */
  #hasShown = false;
  #isStopping = false;
  #timer: Timer | null = null;
  #beats = 0;
  readonly #awaited = new Map<number, () => void>();

  constructor(deps: ThreadHeartDeps, options: ThreadHeartOptions) {
    super();
    this.#deps = deps;
    this.#options = options;
    this.#link = new ThreadLink(deps.ports.near, (message) => this.#onMessage(message));
    this.#silence = new Silence(deps.clock.monotonicMs(), options.pulseMs);
  }

  override start(hear: (word: HeartWord) => void): void {
    this.#hear = hear;
    this.#thread = this.#deps.startThread(this.#deps.ports.far);
    void this.#thread.ended.then((error) => this.#onEnded(error));
    this.#pulse();
  }

  /**
   * A claim's begin goes at once, before the claim does. Other news wait for the end of what runs now, which is before any
   * handler is called: its payload is checked in between, and whoever waits for that lets the news go first.
   */
  override tell(news: HeartNews): void {
    this.#untold.push(news);
    if (news.kind === 'claim-began') this.#flush();
    else if (this.#untold.length === 1) queueMicrotask(() => this.#flush());
  }

  override async beat(): Promise<void> {
    if (this.#thread === null || this.#isStopping) return;
    this.#flush();
    const id = (this.#beats += 1);
    await new Promise<void>((resolve) => {
      this.#awaited.set(id, resolve);
      this.#link.say({ kind: 'beat', id });
    });
  }

  override async stop(): Promise<void> {
    this.#isStopping = true;
    this.#timer?.cancel();
    this.#link.say({ kind: 'stop' });
    await this.#thread?.ended;
    this.#link.close();
  }

  #flush(): void {
    if (this.#untold.length === 0) return;
    const news = this.#untold;
    this.#untold = [];
    this.#link.say({ kind: 'news', news });
  }

  #onMessage(message: FromHeart): void {
    this.#silence.broken();
    this.#hasShown = true;
    switch (message.kind) {
      case 'word':
        return this.#hear(message.word);
      case 'event':
        return this.#deps.events.emit(fromWireEvent(message.event));
      case 'beat-done':
        return this.#answer(message.id);
      case 'alive':
        return undefined;
    }
  }

  #answer(id: number): void {
    this.#awaited.get(id)?.();
    this.#awaited.delete(id);
  }

  /** Says that we live, and looks whether the heart does: first at what it has said, then at its silence. */
  #pulse(): void {
    const { clock } = this.#deps;
    this.#link.say({ kind: 'alive' });
    this.#link.catchUp();
    const silentMs = this.#silence.look(clock.monotonicMs());
    if (silentMs > (this.#hasShown ? this.#options.silentAfterMs : STARTS_WITHIN_MS)) {
      return this.#die(new Error(`Nothing was heard of the heart for ${Math.round(silentMs)} ms`));
    }
    this.#timer = clock.setTimer(this.#options.pulseMs, () => this.#pulse());
  }

  #onEnded(error: Error | null): void {
    for (const id of this.#awaited.keys()) this.#answer(id);
    if (!this.#isStopping) this.#die(error ?? new Error('The thread of the heart has ended'));
  }

  #die(error: Error): void {
    this.#isStopping = true;
    this.#timer?.cancel();
    this.#deps.onDeath(error);
  }
}
