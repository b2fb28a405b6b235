import type { DeathHandler, DeathNotice, OutboxEntry, Subscription, Ticket, TicketSink } from '@deadman/domain';
import type { Kernel } from './kernel.js';
import type { Network } from './network.js';
import type { Process } from './process.js';
import type { Situations } from './situations.js';

/** Of each queue. */
const PARTITIONS = 4;
/** How long the group takes to notice that a member is gone. Milliseconds. */
const SESSION_MS = 6_000;
/** How long a rebalance stops everybody. Milliseconds. */
const REBALANCE_MS = 300;
/** Time between two heartbeats of a member, each of which commits its offsets. Milliseconds. */
const BEAT_MS = 500;
const REDELIVER_DEATHS_MS = 1_000;

interface Partition {
  readonly queue: string;
  readonly messages: { readonly jobIds: readonly string[] }[];
  committed: number;
  /** Where the present owner reads on. */
  position: number;
  owner: Member | null;
  /** Offsets of which every job is done, and since when none of the jobs waits for its claim, at or above the committed one. */
  readonly done: Set<number>;
  readonly claimedAtMs: Map<number, number>;
}

interface Member {
  readonly process: Process;
  readonly queues: readonly string[];
  readonly sink: TicketSink;
  lastSeenMs: number;
  isPaused: boolean;
  isLeaving: boolean;
  isFetching: boolean;
}

interface Recorder {
  readonly process: Process;
  readonly handler: DeathHandler;
}

interface BrokerSpec {
  readonly kernel: Kernel;
  readonly network: Network;
  readonly situations: Situations;
  /** Each has partitions of its own. */
  readonly queues: readonly string[];
  /** How long a claim holds up the offset of its ticket. Milliseconds. */
  readonly offsetHoldMs: number;
}

/**
 * A broker as the protocol sees it: partitions for each queue, a group whose members own them, offsets that are committed
 * behind the work. It is honest about what brokers do not promise: an owner that is gone keeps its partitions until its session
 * ends, a new owner starts at the committed offset, and a wipe forgets all of it.
 */
export class Broker {
  readonly #kernel: Kernel;
  readonly #network: Network;
  readonly #situations: Situations;
  readonly #queues: readonly string[];
  readonly #offsetHoldMs: number;
  readonly #members = new Set<Member>();
  readonly #recorders = new Set<Recorder>();
  #partitions: Partition[];
  #deaths: DeathNotice[] = [];
  #generation = 0;
  #isBusyWithDeaths = false;

  constructor({ kernel, network, situations, queues, offsetHoldMs }: BrokerSpec) {
    this.#kernel = kernel;
    this.#network = network;
    this.#situations = situations;
    this.#queues = queues;
    this.#offsetHoldMs = offsetHoldMs;
    this.#partitions = newPartitions(queues);
    this.#watchSessions();
  }

  append(entry: OutboxEntry): void {
    if (entry.kind === 'dead') {
      this.#deaths.push({ jobId: entry.jobId, attempt: entry.attempt });
      return this.#deliverDeaths();
    }
    for (const [number, partition] of this.#partitionsOf(entry.queue).entries()) {
      const jobIds = entry.jobIds.filter((jobId) => partitionOf(jobId) === number);
      if (jobIds.length === 0) continue;
      partition.messages.push({ jobIds });
      if (partition.owner !== null) this.#fetchSoon(partition.owner);
    }
  }

  /** Resolves at once, whether the broker can be reached or not, as the real one does: a member joins when it can. */
  join(process: Process, queues: readonly string[], sink: TicketSink): Subscription {
    const member = { process, queues, sink, lastSeenMs: 0, isPaused: false, isLeaving: false, isFetching: false };
    this.#beat(member);
    return {
      pause: async () => void (member.isPaused = true),
      close: async () => this.#leave(member),
    };
  }

  record(process: Process, handler: DeathHandler): Subscription {
    const recorder = { process, handler };
    this.#recorders.add(recorder);
    this.#deliverDeaths();
    const leave = async (): Promise<void> => void this.#recorders.delete(recorder);
    return { pause: leave, close: leave };
  }

  /** Everybody stops, and the partitions are dealt anew to whoever is thought to live. */
  rebalance(isForNothing = false): void {
    this.#generation += 1;
    this.#situations.count('rebalance');
    const before = this.#partitions.map(({ owner }) => owner);
    const positions = this.#positions;
    for (const partition of this.#partitions) take(partition, null);
    if (isForNothing && this.#positions < positions) this.#situations.count('rebalance: a ticket to be told again');
    const generation = this.#generation;
    this.#kernel.after(REBALANCE_MS, () => {
      if (generation !== this.#generation) return;
      this.#deal();
      const moved = this.#partitions.filter(({ owner }, index) => before[index] !== null && before[index] !== owner);
      if (isForNothing && moved.length > 0) this.#situations.count('rebalance: a partition moved', moved.length);
    });
  }

  /** Forgets every message and offset, and the group with them. Members find out by themselves. Returns the messages lost. */
  wipe(): number {
    const before = this.#open;
    this.#generation += 1;
    this.#partitions = newPartitions(this.#queues);
    this.#deaths = [];
    this.#members.clear();
    return before - this.#open;
  }

  /** Messages that it would still have to tell somebody of. */
  get #open(): number {
    return this.#partitions.reduce(
      (sum, { messages, committed }) => sum + messages.length - committed,
      this.#deaths.length,
    );
  }

  /** How far the owners have read, all partitions together. */
  get #positions(): number {
    return this.#partitions.reduce((sum, { position }) => sum + position, 0);
  }

  /** After an absence sessions count anew. */
  onReturn(): void {
    for (const member of this.#members) member.lastSeenMs = this.#kernel.nowMs;
    this.#deliverDeaths();
  }

  /** Each time from another member on, so that partitions also move between members that stay. */
  #deal(): void {
    for (const queue of this.#queues) {
      const members = [...this.#members].filter(({ queues }) => queues.includes(queue));
      for (const [number, partition] of this.#partitionsOf(queue).entries()) {
        take(partition, members[(number + this.#generation) % Math.max(1, members.length)] ?? null);
      }
    }
    for (const member of this.#members) this.#fetchSoon(member);
  }

  /** A member's heartbeat stands still with its process, and its session with it. */
  #beat(member: Member): void {
    if (member.isLeaving) return;
    if (this.#network.reaches(member.process, 'kafka')) {
      if (!this.#members.has(member)) this.#admit(member);
      member.lastSeenMs = this.#kernel.nowMs;
      if (!this.#network.isLost(member.process)) this.#commit(member);
      this.#fetchSoon(member);
    }
    this.#kernel.after(BEAT_MS, () => this.#beat(member), member.process);
  }

  #admit(member: Member): void {
    this.#members.add(member);
    this.rebalance();
  }

  #leave(member: Member): void {
    if (member.isLeaving) return;
    member.isLeaving = true;
    member.isPaused = true;
    // A member that cannot say that it leaves, or whose process is dead, is found out by its silence.
    if (!member.process.isAlive || !this.#network.reaches(member.process, 'kafka')) return;
    this.#commit(member);
    if (this.#members.delete(member)) this.rebalance();
  }

  /** The coordinator's own clock. It does not run while the broker is down. */
  #watchSessions(): void {
    this.#kernel.after(1_000, () => {
      if (this.#network.isUp('kafka')) this.#expire();
      this.#deliverDeaths();
      this.#watchSessions();
    });
  }

  #expire(): void {
    const silent = [...this.#members].filter(({ lastSeenMs }) => this.#kernel.nowMs - lastSeenMs > SESSION_MS);
    if (silent.length === 0) return;
    for (const member of silent) this.#members.delete(member);
    this.#situations.count('group member expired', silent.length);
    this.rebalance();
  }

  /** One fetch is under way at a time. */
  #fetchSoon(member: Member): void {
    if (member.isFetching || member.isPaused || !this.#hasMore(member)) return;
    member.isFetching = true;
    const delayMs = member.process.dice.integer(1, 5);
    this.#kernel.after(delayMs, () => this.#fetch(member), member.process.inbox);
  }

  #fetch(member: Member): void {
    member.isFetching = false;
    if (member.isPaused || !this.#network.reaches(member.process, 'kafka')) return;
    const isTaken = this.#partitions.every(
      (partition) => partition.owner !== member || this.#deliver(partition, member),
    );
    if (!isTaken) void member.sink.whenRoom().then(() => this.#fetchSoon(member));
  }

  #partitionsOf(wanted: string): readonly Partition[] {
    return this.#partitions.filter(({ queue }) => queue === wanted);
  }

  #hasMore(member: Member): boolean {
    return this.#partitions.some(({ owner, position, messages }) => owner === member && position < messages.length);
  }

  /** False when the sink is full. */
  #deliver(partition: Partition, member: Member): boolean {
    const generation = this.#generation;
    while (partition.position < partition.messages.length) {
      const offset = partition.position;
      const { jobIds } = partition.messages[offset]!;
      const [waiting, open] = [new Set(jobIds), new Set(jobIds)];
      const claimed = (jobId: string): void => {
        if (!waiting.delete(jobId) || waiting.size > 0 || generation !== this.#generation) return;
        partition.claimedAtMs.set(offset, this.#kernel.nowMs);
      };
      const done = (jobId: string): void => {
        claimed(jobId);
        if (!open.delete(jobId) || open.size > 0) return;
        if (generation === this.#generation) partition.done.add(offset);
        else this.#situations.count('stale commit dropped');
      };
      const ticket: Ticket = { queue: partition.queue, jobIds, claimed, done };
      if (!member.sink.offer([ticket])) return false;
      partition.position += 1;
    }
    return true;
  }

  /** The contiguous low watermark of what is done, or was claimed too long ago to be waited for (`protocol.md` §8). */
  #commit(member: Member): void {
    const freeSinceMs = this.#kernel.nowMs - this.#offsetHoldMs;
    for (const partition of this.#partitions) {
      if (partition.owner !== member) continue;
      const isFree = (offset: number): boolean =>
        partition.done.has(offset) || (partition.claimedAtMs.get(offset) ?? Infinity) <= freeSinceMs;
      while (isFree(partition.committed)) {
        partition.done.delete(partition.committed);
        partition.claimedAtMs.delete(partition.committed);
        partition.committed += 1;
      }
    }
  }

  /** One batch at a time to one recorder; what it throws on, does not answer, or does not commit is delivered again. */
  #deliverDeaths(): void {
    const recorder = [...this.#recorders].find(
      ({ process }) => process.isWell && this.#network.reaches(process, 'kafka'),
    );
    if (recorder === undefined || this.#deaths.length === 0 || this.#isBusyWithDeaths) return;
    const log = this.#deaths;
    const batch = log.slice(0, 100);
    this.#isBusyWithDeaths = true;
    let isSettled = false;
    const settle = (isDone: boolean): void => {
      if (isSettled) return;
      isSettled = true;
      this.#isBusyWithDeaths = false;
      const isCommitted = isDone && recorder.process.isAlive && !this.#network.isLost(recorder.process);
      if (isCommitted && log === this.#deaths) this.#deaths.splice(0, batch.length);
      if (!isCommitted) this.#situations.count('deaths told again');
      this.#kernel.after(isCommitted ? 1 : REDELIVER_DEATHS_MS, () => this.#deliverDeaths());
    };
    this.#kernel.after(SESSION_MS, () => settle(false));
    recorder.handler(batch).then(
      () => settle(true),
      () => settle(false),
    );
  }
}

function take(partition: Partition, owner: Member | null): void {
  partition.owner = owner;
  partition.position = partition.committed;
  partition.done.clear();
  partition.claimedAtMs.clear();
}

function newPartitions(queues: readonly string[]): Partition[] {
  return queues.flatMap((queue) => Array.from({ length: PARTITIONS }, () => newPartition(queue)));
}

function newPartition(queue: string): Partition {
  return {
    queue,
    messages: [],
    committed: 0,
    position: 0,
    owner: null,
    done: new Set<number>(),
    claimedAtMs: new Map<number, number>(),
  };
}

/** Any stable spread will do here; the real one is the transport's. */
function partitionOf(jobId: string): number {
  return (Number.parseInt(jobId.slice(-8, -4), 16) + Number.parseInt(jobId.slice(-4), 16)) % PARTITIONS;
}
