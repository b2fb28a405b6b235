import { LeaseStore, WakeUpSet } from '@deadman/domain';
import type { Clock, Lease } from '@deadman/domain';
import { MemoryLeaseStore, MemoryWakeUpSet } from '@deadman/leases';
import { VirtualClock } from './process.js';
import type { Kernel } from './kernel.js';

type Part = 'leases' | 'wakeUps';

/** A command that was carried out, kept so that a server that forgets its last second can be made up again. */
interface Command {
  readonly atMs: number;
  readonly part: Part;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** A clock that can be set to the times of commands of the past. */
class ReplayClock extends VirtualClock {
  atMs: number | null = null;

  override monotonicMs(): number {
    return this.atMs ?? super.monotonicMs();
  }
}

/**
 * Redis as the protocol uses it: leases, the trust in them, and wake-ups, in one memory that can be lost as a whole or
 * back to an earlier moment. Losing any of it starts the trust again, as the run id of a new server does.
 */
export class SimulatedRedis {
  readonly leases: LeaseStore;
  readonly wakeUps: WakeUpSet;
  readonly #clock: ReplayClock;
  readonly #commands: Command[] = [];
  #parts: Record<Part, object>;

  constructor(kernel: Kernel) {
    this.#clock = new ReplayClock(kernel);
    this.#parts = newParts(this.#clock);
    this.leases = this.#facade<LeaseStore>('leases');
    this.wakeUps = this.#facade<WakeUpSet>('wakeUps');
  }

  /** Loses everything. Returns how many leases stood. */
  empty(): number {
    const standing = this.#countStanding();
    this.#parts = newParts(this.#clock);
    this.#commands.length = 0;
    return standing;
  }

  /**
   * Loses what it was told in its last `lostMs`. Reads are not repeated, so that nobody trusts what is left. Returns how
   * many writes are lost.
   */
  rewind(lostMs: number): number {
    const untilMs = this.#clock.monotonicMs() - lostMs;
    const writes = this.#commands.filter(({ name }) => name !== 'read');
    const kept = writes.filter(({ atMs }) => atMs <= untilMs);
    this.empty();
    for (const command of kept) {
      this.#clock.atMs = command.atMs;
      void this.#carryOut(command);
    }
    this.#clock.atMs = null;
    this.#commands.push(...kept);
    return writes.length - kept.length;
  }

  /** Leases that were set within their time and not given back, by what it was told. */
  #countStanding(): number {
    const nowMs = this.#clock.monotonicMs();
    const standing = new Set<string>();
    for (const { part, name, args, atMs } of this.#commands) {
      if (part !== 'leases') continue;
      const [leases, ttlMs] = args as [readonly Lease[], number];
      if (name === 'release') for (const { jobId } of leases) standing.delete(jobId);
      if ((name === 'acquire' || name === 'renew') && atMs + ttlMs > nowMs) {
        for (const { jobId } of leases) standing.add(jobId);
      }
    }
    return standing.size;
  }

  #facade<Port extends object>(part: Part): Port {
    const call =
      (name: string) =>
      (...args: unknown[]): unknown => {
        const command = { atMs: this.#clock.monotonicMs(), part, name, args };
        this.#commands.push(command);
        return this.#carryOut(command);
      };
    return new Proxy({} as Port, { get: (_target, name) => (typeof name === 'string' ? call(name) : undefined) });
  }

  #carryOut({ part, name, args }: Command): unknown {
    const target = this.#parts[part];
    const method = Reflect.get(target, name) as (...args: readonly unknown[]) => unknown;
    return method.apply(target, args as unknown[]);
  }
}

function newParts(clock: Clock): Record<Part, object> {
  return { leases: new MemoryLeaseStore(clock), wakeUps: new MemoryWakeUpSet(clock) };
}
