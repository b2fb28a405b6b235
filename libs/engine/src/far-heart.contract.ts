import type { Clock, Random } from '@deadman/domain';
import { BeatingHeart } from './beating-heart.js';
import type { BeatingHeartDeps } from './beating-heart.js';
import { Heart } from './heart.js';
import type { HeartNews, HeartWord } from './heart.js';
import type { HeartbeatOptions } from './heartbeat.js';

/** Longest that something said waits to be heard. Milliseconds; many times what a busy thread takes. */
const MAX_DELAY_MS = 400;

/** What was said and is not heard yet: in order, each a while later. */
class SlowPath<Message> {
  readonly #hear: (message: Message) => void;
  readonly #clock: Clock;
  readonly #random: Random;
  #waiting: Message[] = [];

  constructor(hear: (message: Message) => void, clock: Clock, random: Random) {
    this.#hear = hear;
    this.#clock = clock;
    this.#random = random;
  }

  send(message: Message): void {
    this.#waiting.push(message);
    this.#clock.setTimer(Math.round(this.#random.next() * MAX_DELAY_MS), () => this.#deliverUpTo(message));
  }

  deliverAll(): void {
    for (const message of this.#waiting.splice(0)) this.#hear(message);
  }

  #deliverUpTo(message: Message): void {
    const count = this.#waiting.indexOf(message) + 1;
    for (const one of this.#waiting.splice(0, count)) this.#hear(one);
  }
}

/** A heart as in another thread: it hears what is told a while later, and is heard a while later. */
export class FarHeart extends Heart {
  readonly #beating: BeatingHeart;
  readonly #news: SlowPath<HeartNews>;
  readonly #words: SlowPath<HeartWord>;
  #hear: (word: HeartWord) => void = () => {};

  constructor(deps: Omit<BeatingHeartDeps, 'say' | 'catchUp'>, options: HeartbeatOptions) {
    super();
    const { clock, random } = deps;
    this.#news = new SlowPath((news) => this.#beating.hear(news), clock, random);
    this.#words = new SlowPath((word) => this.#hear(word), clock, random);
    const say = (word: HeartWord): void => this.#words.send(word);
    this.#beating = new BeatingHeart({ ...deps, say, catchUp: () => this.#news.deliverAll() }, options);
  }

  override start(hear: (word: HeartWord) => void): void {
    this.#hear = hear;
    this.#beating.start();
  }

  override tell(news: HeartNews): void {
    this.#news.send(news);
  }

  override async beat(): Promise<void> {
    await this.#beating.beat();
    this.#words.deliverAll();
  }

  override stop(): Promise<void> {
    return this.#beating.stop();
  }
}
