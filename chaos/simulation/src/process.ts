import { Clock } from '@deadman/domain';
import type { Timer } from '@deadman/domain';
import type { Kernel, Owner } from './kernel.js';

/** The wall clock of the virtual world at its beginning. */
const EPOCH_MS = Date.parse('2026-01-01T00:00:00.000Z');

/**
 * One life of a process. Killed, nothing of it happens any more: its timers are gone, replies to it reach nobody, and
 * what it had already sent arrives all the same. Frozen, its timers and replies wait until it is thawed.
 */
export class Process implements Owner {
  readonly name: string;
  readonly clock: Clock;
  #isAlive = true;
  #frozen: (() => void)[] | null = null;
  readonly #kernel: Kernel;

  /** @param skewMs by how much its wall clock is wrong. Nothing may depend on that. */
  constructor(name: string, kernel: Kernel, skewMs = 0) {
    this.name = name;
    this.#kernel = kernel;
    this.clock = new VirtualClock(kernel, this, skewMs);
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isFrozen(): boolean {
    return this.#frozen !== null;
  }

  /** Alive and not frozen: somebody who can answer for what it holds. */
  get isWell(): boolean {
    return this.#isAlive && this.#frozen === null;
  }

  kill(): void {
    this.#isAlive = false;
    this.#frozen = null;
  }

  freeze(): void {
    this.#frozen ??= [];
  }

  /** Everything that came meanwhile happens now, in order. */
  thaw(): void {
    const waiting = this.#frozen ?? [];
    this.#frozen = null;
    for (const run of waiting) this.#kernel.after(0, run, this);
  }

  postpone(run: () => void): boolean {
    if (this.#frozen === null) return false;
    this.#frozen.push(run);
    return true;
  }
}

/** Time as a process sees it. Its monotonic clock goes on while it is frozen, as a real one does under SIGSTOP. */
export class VirtualClock extends Clock {
  readonly #kernel: Kernel;
  readonly #owner: Owner | null;
  readonly #skewMs: number;

  constructor(kernel: Kernel, owner: Owner | null = null, skewMs = 0) {
    super();
    this.#kernel = kernel;
    this.#owner = owner;
    this.#skewMs = skewMs;
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
