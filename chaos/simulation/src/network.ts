import { DeadmanError } from '@deadman/domain';
import type { ErrorCode } from '@deadman/domain';
import type { SeededRandom } from '@deadman/testing';
import type { NetworkFaults, ServerName } from './fault-plan.js';
import type { Kernel } from './kernel.js';
import type { Process } from './process.js';
import type { Situations } from './situations.js';

/** How a server's failures look to its clients. */
interface ServerManners {
  /** What a client is told that could not connect: nothing happened. */
  readonly away: ErrorCode;
  /** What a client is told that lost its connection after it had sent. */
  readonly unknown: ErrorCode;
  /** How long a client waits for a reply. Milliseconds. */
  readonly timeoutMs: number;
}

const MANNERS: Record<ServerName, ServerManners> = {
  postgres: { away: 'store-unavailable', unknown: 'unknown-outcome', timeoutMs: 1_500 },
  redis: { away: 'lease-store-unavailable', unknown: 'lease-store-unavailable', timeoutMs: 400 },
  kafka: { away: 'transport-unavailable', unknown: 'transport-unavailable', timeoutMs: 1_000 },
};

/** Longest that a delayed request is under way. Milliseconds. */
const LONGEST_DELAY_MS = 12_000;

/** Carries requests to servers and replies back, and loses, delays, doubles and reorders them as planned. */
export class Network {
  readonly #kernel: Kernel;
  readonly #dice: SeededRandom;
  readonly #situations: Situations;
  readonly #down = new Set<ServerName>();
  #faults: NetworkFaults;

  constructor(kernel: Kernel, dice: SeededRandom, faults: NetworkFaults, situations: Situations) {
    this.#kernel = kernel;
    this.#dice = dice;
    this.#faults = faults;
    this.#situations = situations;
  }

  /** From now on every message arrives. */
  calm(): void {
    this.#faults = { requestLost: 0, replyLost: 0, requestDelayed: 0, requestDoubled: 0, senderKilled: 0 };
  }

  takeDown(server: ServerName): void {
    this.#down.add(server);
  }

  bringUp(server: ServerName): void {
    this.#down.delete(server);
  }

  isUp(server: ServerName): boolean {
    return !this.#down.has(server);
  }

  /**
   * Sends a request and answers with its reply. What a dead sender says reaches nobody; what a sender is told that died
   * meanwhile reaches nobody either.
   */
  call<T>(sender: Process, server: ServerName, act: () => Promise<T>, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!sender.isAlive) return;
      const fate = this.#fate();
      const { unknown, away, timeoutMs } = MANNERS[server];
      let isAnswered = false;
      const answer = (delayMs: number, how: () => void): void => {
        this.#kernel.after(delayMs, () => (isAnswered ? undefined : ((isAnswered = true), how())), sender);
      };
      const fail = (delayMs: number, code: ErrorCode): void => answer(delayMs, () => reject(new DeadmanError(code)));
      const arrive = (replies: boolean): void => {
        if (!this.isUp(server)) return fail(this.#latency(), away);
        void act().then(
          (value) => (replies ? answer(this.#latency(), () => resolve(value)) : undefined),
          (error: unknown) => (replies ? answer(this.#latency(), () => reject(error)) : undefined),
        );
        if (fate === 'senderKilled') {
          this.#situations.count(`sender killed after ${what}`);
          sender.kill();
        }
      };
      if (fate === 'requestDelayed') {
        this.#situations.count(`${what} delayed`);
        fail(this.#dice.integer(1, timeoutMs), unknown);
        this.#kernel.after(this.#dice.integer(timeoutMs, LONGEST_DELAY_MS), () => arrive(false));
        return;
      }
      fail(timeoutMs, unknown);
      if (fate === 'requestLost') return;
      if (fate === 'replyLost') this.#situations.count(`reply to ${what} lost`);
      this.#kernel.after(this.#latency(), () => arrive(fate !== 'replyLost'));
      if (fate === 'requestDoubled') this.#kernel.after(this.#latency() + 5, () => arrive(false));
    });
  }

  #fate(): keyof NetworkFaults | null {
    for (const [fate, chance] of Object.entries(this.#faults) as [keyof NetworkFaults, number][]) {
      if (chance > 0 && this.#dice.next() < chance) return fate;
    }
    return null;
  }

  /** Mostly a millisecond, now and then much more: what overtakes what is decided here. */
  #latency(): number {
    return this.#dice.next() < 0.02 ? this.#dice.integer(20, 300) : this.#dice.integer(0, 3);
  }
}
