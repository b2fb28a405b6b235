import { BeatingHeart, Heart } from '@deadman/engine';
import type { BeatingHeartDeps, HeartbeatOptions, HeartNews, HeartWord } from '@deadman/engine';
import type { Kernel } from './kernel.js';
import type { Process } from './process.js';

/** Longest that a message between two threads of one process takes. Milliseconds. */
const MAX_DELAY_MS = 5;

/** Messages from one thread to another: in order, each a moment later, and heard when the other one gets to it. */
class Channel<Message> {
  readonly #kernel: Kernel;
  readonly #from: Process;
  readonly #to: Process;
  readonly #hear: (message: Message) => void;
  #waiting: Message[] = [];
  #lastAtMs = 0;

  constructor(kernel: Kernel, from: Process, to: Process, hear: (message: Message) => void) {
    this.#kernel = kernel;
    this.#from = from;
    this.#to = to;
    this.#hear = hear;
  }

  send(message: Message): void {
    if (!this.#from.isAlive) return;
    this.#waiting.push(message);
    const { nowMs } = this.#kernel;
    this.#lastAtMs = Math.max(this.#lastAtMs, nowMs + this.#from.dice.integer(0, MAX_DELAY_MS));
    this.#kernel.after(this.#lastAtMs - nowMs, () => this.#deliverUpTo(message), this.#to.inbox);
  }

  /** Everything that was sent, at once, as a thread can read its port. */
  deliverAll(): void {
    for (const message of this.#waiting.splice(0)) this.#hear(message);
  }

  #deliverUpTo(message: Message): void {
    const count = this.#waiting.indexOf(message) + 1;
    for (const one of this.#waiting.splice(0, count)) this.#hear(one);
  }
}

/** The heart of a worker in a thread of its own: it beats on while a handler blocks the worker's main thread. */
export class ThreadHeart extends Heart {
  readonly #beating: BeatingHeart;
  readonly #news: Channel<HeartNews>;
  readonly #words: Channel<HeartWord>;
  readonly #requests: Channel<() => void>;
  readonly #answers: Channel<() => void>;
  readonly #main: Process;
  readonly #thread: Process;
  #hear: (word: HeartWord) => void = () => {};

  constructor(
    { kernel, main, thread }: { readonly kernel: Kernel; readonly main: Process; readonly thread: Process },
    deps: Omit<BeatingHeartDeps, 'say' | 'catchUp'>,
    options: HeartbeatOptions,
  ) {
    super();
    this.#main = main;
    this.#thread = thread;
    this.#news = new Channel(kernel, main, thread, (news) => this.#beating.hear(news));
    this.#words = new Channel(kernel, thread, main, (word) => this.#hear(word));
    this.#requests = new Channel(kernel, main, thread, (act) => act());
    this.#answers = new Channel(kernel, thread, main, (act) => act());
    const say = (word: HeartWord): void => this.#words.send(word);
    this.#beating = new BeatingHeart({ ...deps, say, catchUp: () => this.#news.deliverAll() }, options);
  }

  override start(hear: (word: HeartWord) => void): void {
    this.#hear = hear;
    this.#beating.start();
    this.#watchMain();
  }

  override tell(news: HeartNews): void {
    this.#news.send(news);
  }

  override beat(): Promise<void> {
    return this.#ask(() => this.#beating.beat());
  }

  override stop(): Promise<void> {
    return this.#ask(() => this.#beating.stop());
  }

  /** What was said before the answer is heard before it, since both take the same way. */
  #ask(act: () => Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const answer = (): void =>
        this.#answers.send(() => {
          this.#words.deliverAll();
          resolve();
        });
      this.#requests.send(() => void act().then(answer));
    });
  }

  /** A main thread that stands still with a job past its deadline has the process killed (`protocol.md` §6). */
  #watchMain(): void {
    this.#thread.clock.setTimer(1_000, () => {
      if (this.#main.isFrozen && this.#beating.isAnyOverdue()) this.#main.kill();
      else this.#watchMain();
    });
  }
}
