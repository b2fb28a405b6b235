import type { DeathHandler, DeathNotice, OutboxEntry, Ticket, TicketSink } from '@deadman/domain';
import type { Kernel } from './kernel.js';
import type { Process } from './process.js';
import type { Situations } from './situations.js';

const PARTITIONS = 4;
/** How long the group takes to notice that a member is gone. Milliseconds. */
const SESSION_MS = 6_000;
/** How long a rebalance stops everybody. Milliseconds. */
const REBALANCE_MS = 300;
const POLL_MS = 20;
const COMMIT_MS = 500;
const REDELIVER_DEATHS_MS = 1_000;

type TicketMessage = { readonly queue: string; readonly jobIds: readonly string[] };

interface Partition {
  messages: TicketMessage[];
  committed: number;
  /** Where the present owner reads on. */
  position: number;
  owner: Member | null;
  /** Offsets of which every job is done, at or above the committed one. */
  readonly done: Set<number>;
}

interface Member {
  readonly process: Process;
  readonly sink: TicketSink;
  lastSeenMs: number;
  isLeaving: boolean;
}

/**
 * A broker as the protocol sees it: partitions, a group whose members own them, offsets that are committed behind the
 * work. It is honest about what brokers do not promise: an owner that is gone keeps its partitions until its session
 * ends, a new owner starts at the committed offset, and a wipe forgets all of it.
 */
export class Broker {
  readonly #kernel: Kernel;
  readonly #situations: Situations;
  readonly #members = new Set<Member>();
  readonly #recorders = new Set<{ process: Process; handler: DeathHandler }>();
  #partitions = newPartitions();
  #deaths: DeathNotice[] = [];
  #generation = 0;
  #isBusyWithDeaths = false;

  constructor(kernel: Kernel, situations: Situations) {
    this.#kernel = kernel;
    this.#situations = situations;
  }

  append(entry: OutboxEntry): void {
    if (entry.kind === 'dead') {
      this.#deaths.push({ jobId: entry.jobId, attempt: entry.attempt });
      return this.#deliverDeaths();
    }
    for (const [number, partition] of this.#partitions.entries()) {
      const jobIds = entry.jobIds.filter((jobId) => partitionOf(jobId) === number);
      if (jobIds.length > 0) partition.messages.push({ queue: entry.queue, jobIds });
    }
  }

  join(process: Process, sink: TicketSink): { leave: () => void } {
    const member: Member = { process, sink, lastSeenMs: this.#kernel.nowMs, isLeaving: false };
    this.#members.add(member);
    this.rebalance();
    this.#poll(member);
    return {
      leave: () => {
        member.isLeaving = true;
        this.#commit(member);
        this.#members.delete(member);
        this.rebalance();
      },
    };
  }

  record(process: Process, handler: DeathHandler): { leave: () => void } {
    const recorder = { process, handler };
    this.#recorders.add(recorder);
    this.#deliverDeaths();
    return { leave: () => void this.#recorders.delete(recorder) };
  }

  /** Everybody stops, and the partitions are dealt to whoever is thought to live. */
  rebalance(): void {
    this.#generation += 1;
    this.#situations.count('rebalance');
    for (const partition of this.#partitions) this.#take(partition, null);
    const generation = this.#generation;
    this.#kernel.after(REBALANCE_MS, () => {
      if (generation === this.#generation) this.#deal();
    });
  }

  /** Forgets every message and offset, and the group with them. */
  wipe(): void {
    this.#partitions = newPartitions();
    this.#deaths = [];
    this.rebalance();
  }

  #deal(): void {
    const members = [...this.#members];
    for (const [number, partition] of this.#partitions.entries()) {
      this.#take(partition, members[number % Math.max(1, members.length)] ?? null);
    }
  }

  #take(partition: Partition, owner: Member | null): void {
    partition.owner = owner;
    partition.position = partition.committed;
    partition.done.clear();
  }

  /** A member's loop: fetch, hand over, heartbeat. It stands still with its process, and its session with it. */
  #poll(member: Member): void {
    if (member.isLeaving) return;
    member.lastSeenMs = this.#kernel.nowMs;
    this.#expire();
    for (const partition of this.#partitions) if (partition.owner === member) this.#deliver(partition, member);
    if (Math.floor(this.#kernel.nowMs / COMMIT_MS) !== Math.floor((this.#kernel.nowMs - POLL_MS) / COMMIT_MS)) {
      this.#commit(member);
    }
    this.#kernel.after(POLL_MS, () => this.#poll(member), member.process);
  }

  /** Any member's heartbeat shows the coordinator which of the others have been silent too long. */
  #expire(): void {
    const silent = [...this.#members].filter(({ lastSeenMs }) => this.#kernel.nowMs - lastSeenMs > SESSION_MS);
    if (silent.length === 0) return;
    for (const member of silent) this.#members.delete(member);
    this.#situations.count('group member expired', silent.length);
    this.rebalance();
  }

  #deliver(partition: Partition, member: Member): void {
    const generation = this.#generation;
    while (partition.position < partition.messages.length) {
      const offset = partition.position;
      const { queue, jobIds } = partition.messages[offset]!;
      const open = new Set(jobIds);
      const done = (jobId: string): void => {
        open.delete(jobId);
        if (open.size > 0) return;
        if (generation === this.#generation) partition.done.add(offset);
        else this.#situations.count('stale commit dropped');
      };
      const ticket: Ticket = { queue, jobIds, done };
      if (!member.sink.offer([ticket])) return;
      partition.position += 1;
    }
  }

  /** The contiguous low watermark of what is done (`protocol.md` §8). */
  #commit(member: Member): void {
    for (const partition of this.#partitions) {
      if (partition.owner !== member) continue;
      while (partition.done.delete(partition.committed)) partition.committed += 1;
    }
  }

  /** One batch at a time to one recorder; what it throws on, or does not answer, is delivered again. */
  #deliverDeaths(): void {
    const recorder = [...this.#recorders].find(({ process }) => process.isWell);
    if (recorder === undefined || this.#deaths.length === 0 || this.#isBusyWithDeaths) return;
    const batch = this.#deaths.slice(0, 100);
    const log = this.#deaths;
    this.#isBusyWithDeaths = true;
    const settle = (isDone: boolean): void => {
      if (!this.#isBusyWithDeaths) return;
      this.#isBusyWithDeaths = false;
      if (isDone && log === this.#deaths) this.#deaths.splice(0, batch.length);
      if (!isDone) this.#situations.count('deaths delivered again');
      this.#kernel.after(isDone ? 1 : REDELIVER_DEATHS_MS, () => this.#deliverDeaths());
    };
    const giveUp = this.#kernel.after(SESSION_MS, () => settle(false));
    recorder.handler(batch).then(
      () => (giveUp(), settle(true)),
      () => (giveUp(), settle(false)),
    );
  }
}

function newPartitions(): Partition[] {
  return Array.from({ length: PARTITIONS }, () => ({
    messages: [],
    committed: 0,
    position: 0,
    owner: null,
    done: new Set<number>(),
  }));
}

/** Any stable spread will do here; the real one is the transport's. */
function partitionOf(jobId: string): number {
  return Number.parseInt(jobId.slice(-2), 16) % PARTITIONS;
}
