import type { Clock, Random, StoreNotices } from '@deadman/domain';
import { BeatingHeart } from '@deadman/engine';
import type { LeaseStore, WorkerRegistry } from '@deadman/domain';
import type { MessagePort } from 'node:worker_threads';
import { MainWatch } from './main-watch.js';
import { pulseMs } from './messages.js';
import type { FromHeart, HeartSetup, ToHeart } from './messages.js';
import { ThreadLink } from './thread-link.js';
import { toWireEvent } from './wire-error.js';

export interface HeartServerDeps {
  readonly port: MessagePort;
  readonly registry: WorkerRegistry;
  readonly leases: LeaseStore;
  readonly notices: StoreNotices;
  readonly clock: Clock;
  readonly random: Random;
  /** The worker's thread is blocked for good. */
  readonly onBlocked: (silentMs: number) => void;
}

export type HeartServerOptions = Pick<HeartSetup, 'worker' | 'policy' | 'limits' | 'quarantineWaitMs'>;

/** What runs in the heart's thread. */
export class HeartServer {
  readonly #deps: HeartServerDeps;
  readonly #link: ThreadLink<ToHeart, FromHeart>;
  readonly #heart: BeatingHeart;
  readonly #watch: MainWatch;
  #listening: { unsubscribe(): Promise<void> } | null = null;
  #onStop: () => void = () => {};
  /** Resolves when the worker wants its heart to stop. */
  readonly stopWanted: Promise<void>;

  constructor(deps: HeartServerDeps, options: HeartServerOptions) {
    this.#deps = deps;
    this.stopWanted = new Promise((resolve) => (this.#onStop = resolve));
    this.#link = new ThreadLink(deps.port, (message) => this.#onMessage(message));
    this.#heart = new BeatingHeart(
      {
        ...deps,
        events: { emit: (event) => this.#link.say({ kind: 'event', event: toWireEvent(event) }) },
        say: (word) => this.#link.say({ kind: 'word', word }),
        catchUp: () => this.#link.catchUp(),
      },
      options,
    );
    this.#watch = new MainWatch(
      {
        ...deps,
        isAnyOverdue: () => this.#heart.isAnyOverdue(),
        onPulse: () => {
          this.#link.say({ kind: 'alive' });
          this.#link.catchUp();
        },
      },
      pulseMs(options.policy),
    );
  }

  /** Begins to give signs of life, before any store can be reached. */
  show(): void {
    this.#watch.start();
  }

  async start(): Promise<void> {
    this.#heart.start();
    this.#listening = await this.#deps.notices.subscribe((notice) => {
      if (notice.kind === 'cancel') this.#heart.cancel(notice.claims);
    });
  }

  async stop(): Promise<void> {
    this.#watch.stop();
    await this.#listening?.unsubscribe();
    await this.#heart.stop();
    this.#link.close();
  }

  #onMessage(message: ToHeart): void {
    this.#watch.heard();
    switch (message.kind) {
      case 'news':
        return message.news.forEach((news) => this.#heart.hear(news));
      case 'beat':
        return void this.#heart.beat().then(() => this.#link.say({ kind: 'beat-done', id: message.id }));
      case 'stop':
        return this.#onStop();
      case 'alive':
        return undefined;
    }
  }
}
