import { DeadmanError, isDeadmanError } from '@deadman/domain';
import type { ErrorCode } from '@deadman/domain';
import { absenceMark, cutMark, lostReplyMark } from './fault-marks.js';
import type { Absence, Severance } from './fault-marks.js';
import { CALM } from './fault-plan.js';
import type { NetworkFaults, OutageManner, ServerName } from './fault-plan.js';
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

/** What keeps a server away from everybody. */
interface Down {
  readonly manner: OutageManner;
  readonly by: Absence;
}

/** Ends something that was begun, and nothing of the same kind that others have begun since. */
export type End = () => void;

/** What can become of a message. */
export type Fate = Exclude<keyof NetworkFaults, 'rowLocked'>;

const FATES: readonly Fate[] = [
  'requestLost',
  'replyLost',
  'requestDelayed',
  'requestDoubled',
  'senderKilled',
  'statementRefused',
];

export interface NetworkListener {
  /** A message met its fate. `what` names server and method. */
  onFate(sender: Process, fate: Fate, what: string, args: readonly unknown[]): void;
  /** A request was carried out and its sender will never hear of it. */
  onUnheard(sender: Process, what: string, result: unknown): void;
  /** A server threw what is no operational error: a bug in the code under test or in the simulation. */
  onBug(error: unknown): void;
}

/** Carries requests to servers and replies back, and loses, delays, doubles and reorders them as planned. */
export class Network {
  readonly #kernel: Kernel;
  readonly #listener: NetworkListener;
  readonly #situations: Situations;
  readonly #down = new Map<ServerName, Set<Down>>();
  readonly #cuts = new Map<string, Set<{ readonly by: Severance }>>();
  #faults: NetworkFaults;

  constructor(kernel: Kernel, faults: NetworkFaults, listener: NetworkListener, situations: Situations) {
    this.#kernel = kernel;
    this.#faults = faults;
    this.#listener = listener;
    this.#situations = situations;
  }

  /** From now on every message arrives. */
  calm(): void {
    this.#faults = CALM;
    this.#down.clear();
    this.#cuts.clear();
  }

  /** The server is away until this and whatever else keeps it away has ended. */
  takeDown(server: ServerName, manner: OutageManner, by: Absence): End {
    return addTo(this.#down, server, { manner, by });
  }

  /** The same for one process and one server. */
  cut(post: string, server: ServerName, by: Severance): End {
    return addTo(this.#cuts, `${post}/${server}`, { by });
  }

  isUp(server: ServerName): boolean {
    return this.mannerOf(server) === null;
  }

  /** Whether messages between the two arrive at all. */
  reaches(sender: Process, server: ServerName): boolean {
    return this.isUp(server) && this.#cutOf(sender, server) === undefined;
  }

  /** Whether a scan of `sender` meets somebody else's lock on a row. */
  isRowLocked(sender: Process): boolean {
    return sender.dice.chance(this.#faults.rowLocked);
  }

  /** Whether a message that nobody waits for is lost. */
  isLost(sender: Process): boolean {
    const isLost = sender.dice.chance(this.#faults.requestLost);
    if (isLost) this.#situations.count('requestLost: a word without an answer lost');
    return isLost;
  }

  /**
   * Sends a request and answers with its reply. What a dead sender says reaches nobody; what a sender is told that died
   * meanwhile reaches nobody either.
   */
  call<T>(
    sender: Process,
    server: ServerName,
    what: string,
    args: readonly unknown[],
    act: () => Promise<T>,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!sender.isAlive) return;
      const fate = this.#fate(sender, server);
      if (fate !== null) this.#listener.onFate(sender, fate, what, args);
      const links = { kernel: this.#kernel, network: this, listener: this.#listener, situations: this.#situations };
      new Exchange(links, { sender, server, what, act }, resolve, reject).send(fate);
    });
  }

  /** How a request meets a server that is away; null when it is there. One that refuses is not silent. */
  mannerOf(server: ServerName): OutageManner | null {
    return this.#downOf(server)?.manner ?? null;
  }

  /** A request met a server that is away, or a cut. */
  countMeeting(sender: Process, server: ServerName): void {
    const down = this.#downOf(server);
    const cut = this.#cutOf(sender, server);
    if (down !== undefined) this.#situations.count(absenceMark(down.by, server, down.manner));
    else if (cut !== undefined) this.#situations.count(cutMark(cut.by, server));
  }

  /** A reply was under way when its server went away. */
  countLostReply(server: ServerName): void {
    const down = this.#downOf(server);
    if (down !== undefined) this.#situations.count(lostReplyMark(down.by));
  }

  #downOf(server: ServerName): Down | undefined {
    const all = [...(this.#down.get(server) ?? [])];
    return all.find(({ manner }) => manner === 'refuses') ?? all[0];
  }

  #cutOf({ post }: Process, server: ServerName): { readonly by: Severance } | undefined {
    return this.#cuts.get(`${post}/${server}`)?.values().next().value;
  }

  #fate(sender: Process, server: ServerName): Fate | null {
    for (const fate of FATES) {
      const chance = this.#faults[fate];
      if (chance === 0 || (fate === 'statementRefused' && server !== 'postgres')) continue;
      if (sender.dice.next() < chance) return fate;
    }
    return null;
  }
}

function addTo<Key, Item>(sets: Map<Key, Set<Item>>, key: Key, item: Item): End {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(item));
  return () => void set.delete(item);
}

interface Links {
  readonly kernel: Kernel;
  readonly network: Network;
  readonly listener: NetworkListener;
  readonly situations: Situations;
}

interface Request<T> {
  readonly sender: Process;
  readonly server: ServerName;
  readonly what: string;
  readonly act: () => Promise<T>;
}

/** One request and its reply. */
class Exchange<T> {
  readonly #links: Links;
  readonly #request: Request<T>;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;
  readonly #manners: ServerManners;
  readonly #cancelTimeout: () => void;
  readonly #sentAtMs: number;
  #fate: Fate | null = null;
  #arrivals = 0;
  #timesCarriedOut = 0;
  #wasToldOfFailure = false;

  constructor(links: Links, request: Request<T>, resolve: (value: T) => void, reject: (error: unknown) => void) {
    this.#links = links;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#manners = MANNERS[request.server];
    this.#sentAtMs = links.kernel.nowMs;
    this.#cancelTimeout = links.kernel.after(this.#manners.timeoutMs, () => this.#giveUp(), request.sender);
  }

  send(fate: Fate | null): void {
    this.#fate = fate;
    const { dice } = this.#request.sender;
    const { timeoutMs, unknown } = this.#manners;
    switch (fate) {
      case 'requestLost':
        return;
      case 'requestDelayed':
        this.#hearIn(dice.integer(1, timeoutMs), () => this.#fail(unknown));
        return this.#arriveIn(dice.integer(timeoutMs, LONGEST_DELAY_MS), false);
      case 'statementRefused': {
        const code = dice.pick(['transaction-conflict', 'statement-timeout'] as const);
        return this.#hearIn(dice.integer(1, timeoutMs - 1), () => {
          this.#links.situations.count('statementRefused: broken off');
          this.#fail(code);
        });
      }
      case 'requestDoubled':
        this.#arriveIn(this.#latency(), true);
        return this.#arriveIn(this.#latency() + 5, false);
      default:
        this.#arriveIn(this.#latency(), fate !== 'replyLost', fate === 'senderKilled');
    }
  }

  /** Nothing was heard for too long. */
  #giveUp(): void {
    const wasLost = this.#fate === 'requestLost' && this.#arrivals === 0;
    if (wasLost) this.#links.situations.count('requestLost: never arrived');
    this.#fail(this.#manners.unknown);
  }

  #fail(code: ErrorCode): void {
    this.#wasToldOfFailure = true;
    this.#reject(new DeadmanError(code));
  }

  #arriveIn(delayMs: number, isHeard: boolean, killsSender = false): void {
    this.#links.kernel.after(delayMs, () => {
      this.#arrive(isHeard);
      if (killsSender) this.#killSender();
    });
  }

  #killSender(): void {
    const { sender } = this.#request;
    const isDeadForThis = sender.isAlive && this.#timesCarriedOut > 0;
    sender.kill();
    if (isDeadForThis) this.#links.situations.count('senderKilled: dead once it was carried out');
  }

  /** The request is at the server, if it can get there. */
  #arrive(isHeard: boolean): void {
    this.#arrivals += 1;
    const { network, listener } = this.#links;
    const { sender, server, what, act } = this.#request;
    if (!network.reaches(sender, server)) {
      network.countMeeting(sender, server);
      if (network.mannerOf(server) === 'refuses') {
        this.#hearIn(this.#latency(), () => this.#fail(this.#manners.away));
      }
      return;
    }
    this.#countArrival(isHeard);
    void act().then(
      (value) => (isHeard ? this.#replyWith(() => this.#resolve(value)) : listener.onUnheard(sender, what, value)),
      (error: unknown) => {
        if (!isDeadmanError(error)) listener.onBug(error);
        if (isHeard) this.#replyWith(() => this.#reject(error));
      },
    );
  }

  #countArrival(isHeard: boolean): void {
    const { situations } = this.#links;
    this.#timesCarriedOut += 1;
    if (this.#timesCarriedOut > 1) situations.count('requestDoubled: carried out twice');
    else if (this.#wasToldOfFailure) this.#countLateArrival();
    else if (!isHeard && this.#fate === 'replyLost') situations.count('replyLost: carried out and never heard of');
  }

  #countLateArrival(): void {
    const { situations, kernel } = this.#links;
    situations.count('requestDelayed: carried out after its sender was told it failed');
    const isMuchLater = kernel.nowMs - this.#sentAtMs > this.#manners.timeoutMs + 1_000;
    if (isMuchLater) situations.count('requestDelayed: carried out seconds later');
  }

  /** A server that goes away while its reply is under way takes the connection with it. */
  #replyWith(answer: () => void): void {
    const { network } = this.#links;
    const { sender, server } = this.#request;
    this.#hearIn(this.#latency(), () => {
      if (network.reaches(sender, server)) return answer();
      network.countLostReply(server);
      if (network.mannerOf(server) !== 'refuses') return 'silence';
      this.#fail(this.#manners.unknown);
    });
  }

  /** The sender hears something, and waits no longer unless it was silence. */
  #hearIn(delayMs: number, hear: () => 'silence' | void): void {
    const { kernel } = this.#links;
    kernel.after(delayMs, () => (hear() === 'silence' ? undefined : this.#cancelTimeout()), this.#request.sender.inbox);
  }

  /** Mostly a millisecond, now and then much more: what overtakes what is decided here. */
  #latency(): number {
    const { dice } = this.#request.sender;
    return dice.next() < 0.02 ? dice.integer(20, 300) : dice.integer(0, 3);
  }
}
