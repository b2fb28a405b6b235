import { Clock } from '@deadman/domain';
import type { Timer } from '@deadman/domain';
import type { Dice } from './dice.js';
import type { Kernel, Owner } from './kernel.js';

/** The wall clock of the virtual world at its beginning. */
export const EPOCH_MS = Date.parse('2026-01-01T00:00:00.000Z');

/**
 * One life of a process. Killed, nothing of it happens any more: its timers are gone, replies to it reach nobody, and
 * what it had already sent arrives all the same. Frozen, its timers and replies wait until it is thawed.
 *
 * The process itself owns its timers, `inbox` owns what comes from outside.
 */
export class Process implements Owner {
  readonly name: string;
  /** The place in the deployment where it stands, whichever life this is. */
  readonly post: string;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly inbox: Owner;
  readonly #kernel: Kernel;
  #isAlive = true;
  #timers: (() => void)[] | null = null;
  #messages: (() => void)[] = [];
  #standsSinceMs: number;

  /** @param skewMs by how much its wall clock is wrong. Nothing may depend on that. */
  constructor(post: string, life: number, kernel: Kernel, dice: Dice, skewMs = 0) {
    this.post = post;
    this.name = `${post}.${life}`;
    this.#kernel = kernel;
    this.dice = dice;
    this.#standsSinceMs = kernel.nowMs;
    this.clock = new VirtualClock(kernel, { owner: this, skewMs });
    const isAlive = (): boolean => this.#isAlive;
    this.inbox = {
      get isAlive() {
        return isAlive();
      },
      postpone: (run) => this.isFrozen && this.#messages.push(run) > 0,
    };
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isFrozen(): boolean {
    return this.#timers !== null;
  }

  /** Alive and not frozen: somebody who can answer for what it holds. */
  get isWell(): boolean {
    return this.#isAlive && this.#timers === null;
  }

  /** Since when it has run without standing still. */
  get standsSinceMs(): number {
    return this.#standsSinceMs;
  }

  kill(): void {
    this.#isAlive = false;
    this.#timers = null;
    this.#messages = [];
  }

  freeze(): void {
    if (this.#isAlive) this.#timers ??= [];
  }

  /**
   * Everything that came meanwhile happens now. Which comes first, the timers or what waits in the sockets, hangs on where
   * in its event loop a real process was stopped: a request whose reply lies there may time out before it is read.
   */
  thaw(): void {
    if (this.#timers === null) return;
    const [timers, messages] = [this.#timers, this.#messages];
    this.#timers = null;
    this.#messages = [];
    this.#standsSinceMs = this.#kernel.nowMs;
    const areTimersFirst = this.dice.chance(0.5);
    for (const run of areTimersFirst ? timers : messages) this.#kernel.after(0, run, this);
    for (const run of areTimersFirst ? messages : timers) this.#kernel.after(0, run, this);
  }

  postpone(run: () => void): boolean {
    if (this.#timers === null) return false;
    this.#timers.push(run);
    return true;
  }
}

interface VirtualClockOptions {
  readonly owner?: Owner | null;
  readonly skewMs?: number;
}

/** Time as a process sees it. Its monotonic clock goes on while it is frozen, as a real one does under SIGSTOP. */
export class VirtualClock extends Clock {
  readonly #kernel: Kernel;
  readonly #owner: Owner | null;
  #skewMs: number;

  constructor(kernel: Kernel, { owner = null, skewMs = 0 }: VirtualClockOptions = {}) {
    super();
    this.#kernel = kernel;
    this.#owner = owner;
    this.#skewMs = skewMs;
  }

  /** The wall clock jumps, as it does when another server takes over. */
  step(byMs: number): void {
    this.#skewMs += byMs;
  }

  override monotonicMs(): number {
    return this.#kernel.nowMs;
  }

  override now(): Date {
    return new Date(EPOCH_MS + this.#kernel.nowMs + this.#skewMs);
  }

  override setTimer(delayMs: number, callback: () => void): Timer {
    return { cancel: this.#kernel.after(delayMs, callback, this.#owner) };
  }
}
