import { Clock } from '@deadman/domain';
import type { Timer } from '@deadman/domain';
import { settle } from './settle.js';

/** The longest delay that Node's timers take. A longer one would fire at once there, so it is a bug here. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** More timers than this in one `advance` means that one sets the next without time passing. */
const MAX_TIMERS_PER_ADVANCE = 100_000;

interface FakeTimer extends Timer {
  readonly atMs: number;
  readonly callback: () => void;
}

/** A clock that moves only when a test says so. Timers fire in order of their time, those of one time in order of their setting. */
export class FakeClock extends Clock {
  readonly #startedAt: Date;
  readonly #timers = new Set<FakeTimer>();
  #elapsedMs = 0;

  constructor(startedAt: Date = new Date('2026-01-01T00:00:00.000Z')) {
    super();
    this.#startedAt = startedAt;
  }

  override monotonicMs(): number {
    return this.#elapsedMs;
  }

  override now(): Date {
    return new Date(this.#startedAt.getTime() + this.#elapsedMs);
  }

  override setTimer(delayMs: number, callback: () => void): Timer {
    if (!(delayMs >= 0 && delayMs <= MAX_DELAY_MS)) throw new RangeError(`A timer cannot wait ${delayMs} ms`);
    const timer: FakeTimer = {
      atMs: this.#elapsedMs + delayMs,
      callback,
      cancel: () => void this.#timers.delete(timer),
    };
    this.#timers.add(timer);
    return timer;
  }

  /** How many timers wait. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Moves on by `ms` and fires what becomes due on the way; promises settle before, between and after the timers. */
  async advance(ms: number): Promise<void> {
    await this.#advanceTo(this.#elapsedMs + ms, () => false);
  }

  /** Time passes while the process stands still, as under code that does not yield: what falls due waits for the next `advance`. */
  stall(ms: number): void {
    this.#elapsedMs += ms;
  }

  /** Moves on until `condition` holds, from timer to timer. Throws when it does not within `atMostMs` of this clock. */
  async advanceUntil(condition: () => boolean, atMostMs: number): Promise<void> {
    await settle();
    if (condition()) return;
    await this.#advanceTo(this.#elapsedMs + atMostMs, condition);
    if (!condition()) throw new Error(`The condition did not come true within ${atMostMs} ms of the fake clock`);
  }

  async #advanceTo(targetMs: number, isDone: () => boolean): Promise<void> {
    await settle();
    for (let fired = 0; ; fired += 1) {
      const timer = this.#nextTimer(targetMs);
      if (timer === null) break;
      if (fired === MAX_TIMERS_PER_ADVANCE) throw new Error('Timers set each other without time passing');
      this.#elapsedMs = Math.max(this.#elapsedMs, timer.atMs);
      this.#timers.delete(timer);
      timer.callback();
      await settle();
      if (isDone()) return;
    }
    this.#elapsedMs = Math.max(this.#elapsedMs, targetMs);
  }

  #nextTimer(byMs: number): FakeTimer | null {
    let next: FakeTimer | null = null;
    for (const timer of this.#timers) {
      if (timer.atMs <= byMs && (next === null || timer.atMs < next.atMs)) next = timer;
    }
    return next;
  }
}
