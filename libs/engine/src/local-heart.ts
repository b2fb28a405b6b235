import { BeatingHeart } from './beating-heart.js';
import type { BeatingHeartDeps } from './beating-heart.js';
import { Heart } from './heart.js';
import type { HeartNews, HeartWord } from './heart.js';
import type { HeartbeatOptions } from './heartbeat.js';

/** A heart in the worker's own thread. What is told is known at once, and what it says is heard at once. */
export class LocalHeart extends Heart {
  readonly #beating: BeatingHeart;
  #hear: ((word: HeartWord) => void) | null = null;

  constructor(deps: Omit<BeatingHeartDeps, 'say' | 'catchUp'>, options: HeartbeatOptions) {
    super();
    this.#beating = new BeatingHeart({ ...deps, say: (word) => this.#hear?.(word), catchUp: () => {} }, options);
  }

  override start(hear: (word: HeartWord) => void): void {
    this.#hear = hear;
    this.#beating.start();
  }

  override tell(news: HeartNews): void {
    this.#beating.hear(news);
  }

  override async beat(): Promise<void> {
    if (this.#hear !== null) await this.#beating.beat();
  }

  override stop(): Promise<void> {
    return this.#beating.stop();
  }
}
