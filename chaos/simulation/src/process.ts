import { Clock } from '@deadman/domain';
import type { Timer } from '@deadman/domain';
import type { Dice } from './dice.js';
import type { Kernel, Owner } from './kernel.js';

/** The wall clock of the virtual world at its beginning. */
export const EPOCH_MS = Date.parse('2026-01-01T00:00:00.000Z');

/**
 * One life of a process, seen from one of its threads. Killed, nothing of it happens any more: its timers are gone, replies
 * to it reach nobody, and what it had already sent arrives all the same. Frozen, its timers and replies wait until it is
 * thawed.
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
  readonly #threads: Process[] = [];
  #main: Process | null = null;
  readonly #skewMs: number;
  /** Whoever makes it stand still. */
  readonly #holds = new Set<symbol>();
  #isAlive = true;
  #timers: (() => void)[] | null = null;
  #messages: (() => void)[] = [];
  #runsSinceMs: number;
  #standsSinceMs: number;
  /** It was told to end, and hands back what it holds. */
  isStopping = false;

  /** @param skewMs by how much its wall clock is wrong. Nothing may depend on that. */
  constructor(post: string, name: string, kernel: Kernel, dice: Dice, skewMs = 0) {
    this.post = post;
    this.name = name;
    this.#kernel = kernel;
    this.dice = dice;
    this.#skewMs = skewMs;
    this.#runsSinceMs = kernel.nowMs;
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

  /** A thread that lives and freezes with this one, has its clocks, and goes on when only this one is blocked. */
  startThread(name: string): Process {
    const thread = new Process(this.post, `${this.name}/${name}`, this.#kernel, this.dice.split(name), this.#skewMs);
    thread.#main = this;
    this.#threads.push(thread);
    return thread;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Frozen, or blocked. */
  get isFrozen(): boolean {
    return this.#timers !== null;
  }

  /** Alive and neither frozen nor blocked. */
  get isWell(): boolean {
    return this.#isAlive && this.#timers === null;
  }

  /** Somebody in it can speak for what it holds: itself, or a thread of it. */
  get canSpeak(): boolean {
    return this.isWell || this.#threads.some(({ isWell }) => isWell);
  }

  /** Since when somebody in it has been able to speak. */
  get standsSinceMs(): number {
    return this.#threads[0]?.standsSinceMs ?? this.#standsSinceMs;
  }

  /** Since when this thread has run without standing still. */
  get runsSinceMs(): number {
    return this.#runsSinceMs;
  }

  /** Kills the process, whichever of its threads is asked. */
  kill(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#timers = null;
    this.#messages = [];
    this.#main?.kill();
    for (const thread of this.#threads) thread.kill();
  }

  /** It stands still with all its threads, until what this returns is called, and whoever else holds it lets go of it. */
  freeze(): () => number {
    const releases = [...this.#threads.map((thread) => thread.freeze()), this.block()];
    return () => releases.reduce((sum, release) => sum + release(), 0);
  }

  /** Only this thread stands still. What is returned lets go of it, and says how much came meanwhile if it goes on. */
  block(): () => number {
    if (!this.#isAlive) return () => 0;
    const hold = Symbol('hold');
    this.#holds.add(hold);
    this.#timers ??= [];
    return () => (this.#holds.delete(hold) && this.#holds.size === 0 ? this.#goOn() : 0);
  }

  /** Whoever holds it lets go of it, and of its threads. */
  thaw(): void {
    for (const thread of this.#threads) thread.thaw();
    this.#holds.clear();
    this.#goOn();
  }

  /**
   * Everything that came meanwhile happens now. Which comes first, the timers or what waits in the sockets, hangs on where
   * in its event loop a real process was stopped: a request whose reply lies there may time out before it is read.
   *
   * Returns how much there was of it.
   */
  #goOn(): number {
    if (this.#timers === null) return 0;
    const [timers, messages] = [this.#timers, this.#messages];
    this.#timers = null;
    this.#messages = [];
    this.#runsSinceMs = this.#kernel.nowMs;
    this.#standsSinceMs = this.#kernel.nowMs;
    const areTimersFirst = this.dice.chance(0.5);
    for (const run of areTimersFirst ? timers : messages) this.#kernel.after(0, run, this);
    for (const run of areTimersFirst ? messages : timers) this.#kernel.after(0, run, this);
    return timers.length + messages.length;
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
