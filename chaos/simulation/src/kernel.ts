import TinyQueue from 'tinyqueue';

interface Event {
  readonly atMs: number;
  readonly order: number;
  /** Null when it was taken back. */
  run: (() => void) | null;
  readonly owner: Owner | null;
}

/** What an event can belong to: a process that may be gone, or frozen, when its time comes. */
export interface Owner {
  readonly isAlive: boolean;
  /** Takes the event to run it later when the owner is frozen; false when it is not. */
  postpone(run: () => void): boolean;
}

/** Events of one instant past which the world is taken to turn on the spot. A busy one has some hundred. */
const MOST_AT_ONCE = 100_000;
/** And of ten seconds. The busiest deployment that is simulated has some 5,000. */
const MOST_IN_A_WHILE = 15_000;
const WHILE_MS = 10_000;

/** Something asks to go on at once or nearly so, again and again: a real process would eat its core. */
export class Livelock extends Error {
  override readonly name = 'Livelock';
}

/**
 * The virtual world's clock: events in order of their time, and of one time in order of their making. Between two events
 * all promises run on as far as they can, so that the engine's asynchronous code runs as it does in a real process, only
 * without waiting. The same inputs give the same order.
 */
export class Kernel {
  readonly #events = new TinyQueue<Event>([], (one, other) => one.atMs - other.atMs || one.order - other.order);
  #nowMs = 0;
  #order = 0;
  #ran = 0;
  #ranAtOnce = 0;
  #while = { sinceMs: 0, ran: 0 };

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Events that have run. */
  get ran(): number {
    return this.#ran;
  }

  /** Runs `run` in `delayMs`, unless its owner is gone by then. Returns how to take it back. */
  after(delayMs: number, run: () => void, owner: Owner | null = null): () => void {
    const event: Event = { atMs: this.#nowMs + Math.max(0, delayMs), order: (this.#order += 1), run, owner };
    this.#events.push(event);
    return () => void (event.run = null);
  }

  /** Runs events until `isDone`, or until the world is `untilMs` old. True when it was done in time. Throws `Livelock`. */
  async run(untilMs: number, isDone: () => boolean = () => false): Promise<boolean> {
    await promisesSettled();
    for (;;) {
      if (isDone()) return true;
      const event = this.#events.peek();
      if (event === undefined || event.atMs > untilMs) break;
      this.#events.pop();
      this.#moveTo(event.atMs);
      if (isRunnable(event)) await this.#runOne(event);
    }
    this.#nowMs = untilMs;
    return isDone();
  }

  #moveTo(atMs: number): void {
    this.#ranAtOnce = atMs === this.#nowMs ? this.#ranAtOnce + 1 : 0;
    if (this.#ranAtOnce > MOST_AT_ONCE) throw new Livelock(`${MOST_AT_ONCE} events at ${atMs} ms, and no end`);
    if (atMs >= this.#while.sinceMs + WHILE_MS) this.#while = { sinceMs: atMs, ran: 0 };
    this.#while.ran += 1;
    if (this.#while.ran > MOST_IN_A_WHILE) throw new Livelock(`${MOST_IN_A_WHILE} events within ${WHILE_MS} ms`);
    this.#nowMs = atMs;
  }

  async #runOne({ run }: Event): Promise<void> {
    this.#ran += 1;
    run?.();
    await promisesSettled();
  }
}

function isRunnable(event: Event): boolean {
  const { owner, run } = event;
  if (run === null) return false;
  if (owner === null) return true;
  return owner.isAlive && !owner.postpone(() => event.run?.());
}

/**
 * Resolves when every promise that can go on has gone on. Node runs a tick that was asked for within a microtask only when
 * no microtask is left, which is just that, and costs a tenth of a turn of the real event loop.
 */
async function promisesSettled(): Promise<void> {
  await Promise.resolve();
  await new Promise<void>((resolve) => process.nextTick(resolve));
}
