import type {
  BeatReply,
  Belief,
  Clock,
  EngineEvents,
  JobLimits,
  LeasePolicy,
  LeaseStore,
  Random,
  WorkerRecord,
  WorkerRegistry,
} from '@deadman/domain';
import type { HeartWord } from './heart.js';
import type { Holding, Holdings } from './holdings.js';
import { runKey } from './run.js';
import { within } from './within.js';

export interface HeartbeatDeps {
  readonly registry: WorkerRegistry;
  readonly leases: LeaseStore;
  readonly holdings: Holdings;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EngineEvents;
  /** Takes what is found. */
  readonly say: (word: HeartWord) => void;
  /**
   * Reads everything that the worker has told until now. A claim or an outcome that the store knows of was told before it
   * was sent there, so with this no reply is judged by an older view than its own.
   */
  readonly catchUp: () => void;
}

export interface HeartbeatOptions {
  readonly worker: WorkerRecord;
  readonly policy: LeasePolicy;
  readonly limits: JobLimits;
  /** How long a job may wait in quarantine before workers drain for it. Milliseconds, default 60 000. */
  readonly quarantineWaitMs: number;
}

/** What this worker held when a beat was sent. A run claimed since then cannot be in the reply. */
interface Sight {
  /** Monotonic. */
  readonly sentAtMs: number;
  /** The runs to vouch for: all that are neither past their timeout nor lost. */
  readonly runs: readonly Holding[];
  /** The keys of all runs. */
  readonly held: ReadonlySet<string>;
  /** The tokens of claims whose reply was out. */
  readonly claiming: ReadonlySet<string>;
}

/** Each worker makes room with this chance, so that of several that hear of a waiting job some keep working. */
const DRAIN_CHANCE = 0.5;

/**
 * The dead-man's switch (`protocol.md` §6). Each beat tells both stores that this worker lives, and makes what it holds
 * and what the store believes agree. A run whose last good renewal is older than a TTL is lost for good: nothing later
 * revives it, since another worker may have it by then.
 */
export class Heartbeat {
  readonly #deps: HeartbeatDeps;
  readonly #options: HeartbeatOptions;

  constructor(deps: HeartbeatDeps, options: HeartbeatOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /**
   * One beat, and whether the worker's row was written. Never throws: a store that is away is an event, and the other one
   * can vouch. Takes less than the time between two beats.
   */
  async beat(): Promise<boolean> {
    this.#deps.catchUp();
    const sight = this.#look();
    const [reply] = await Promise.all([this.#tellRegistry(sight), this.#renewLeases(sight)]);
    this.#deps.catchUp();
    if (reply !== null) this.#reconcile(reply, sight);
    this.#loseStale();
    return reply !== null;
  }

  /** Gives up every run that nobody has vouched for during a TTL. */
  #loseStale(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const run of this.#deps.holdings.all()) {
      if (run.isStale(nowMs, this.#options.policy.ttlMs)) this.#lose(run, 'stale');
    }
  }

  #look(): Sight {
    const { holdings, clock } = this.#deps;
    const sentAtMs = clock.monotonicMs();
    const held = holdings.all();
    return {
      sentAtMs,
      runs: held.filter((run) => !run.isLost && !run.isOverdue(sentAtMs, this.#options.policy)),
      held: new Set(held.map(({ key }) => key)),
      claiming: holdings.claimsUnderWay(),
    };
  }

  async #tellRegistry({ runs, sentAtMs }: Sight): Promise<BeatReply | null> {
    const { worker, limits, quarantineWaitMs } = this.#options;
    const request = { worker, quarantineFrom: limits.quarantineFrom, quarantineWaitMs };
    const reply = await this.#bounded(this.#deps.registry.beat(request));
    if (reply !== null) this.#vouch(runs, sentAtMs);
    return reply;
  }

  /** Vouches as soon as this store answers: the other one may be on its way to a timeout. */
  async #renewLeases({ runs, sentAtMs }: Sight): Promise<void> {
    if (runs.length === 0) return;
    const leases = runs.map(({ lease }) => lease);
    const renewed = await this.#bounded(this.#deps.leases.renew(leases, this.#options.policy.ttlMs));
    if (renewed === null) return this.#count('error', runs.length);
    const mine = runs.filter((_run, index) => renewed[index] === true);
    this.#vouch(mine, sentAtMs);
    this.#count('renewed', mine.length);
    this.#count('refused', runs.length - mine.length);
  }

  #count(result: 'renewed' | 'refused' | 'error', count: number): void {
    if (count > 0) this.#deps.events.emit({ kind: 'leases-renewed', result, count });
  }

  /** Null for an answer that failed or came after the next beat was due. */
  async #bounded<T>(call: Promise<T>): Promise<T | null> {
    try {
      return await within(call, this.#options.policy.beatMs * 0.9, this.#deps.clock);
    } catch (error) {
      this.#deps.events.emit({ kind: 'beat-failed', error });
      return null;
    }
  }

  /** The age of a renewal counts from when it was sent. One that comes after the run was lost does not revive it. */
  #vouch(runs: readonly Holding[], sentAtMs: number): void {
    const { clock, say } = this.#deps;
    const nowMs = clock.monotonicMs();
    const vouched = runs.filter((run) => !run.isStale(nowMs, this.#options.policy.ttlMs));
    for (const run of vouched) run.renewedAtMs = Math.max(run.renewedAtMs, sentAtMs);
    if (vouched.length > 0) say({ kind: 'runs-vouched', keys: vouched.map(({ key }) => key), sentAtMs });
  }

  #reconcile(reply: BeatReply, sight: Sight): void {
    const { say, random } = this.#deps;
    const believed = new Set(reply.beliefs.map(runKey));
    for (const run of sight.runs) {
      if (!believed.has(run.key)) this.#lose(run, 'unconfirmed');
    }
    this.#tellCancels(reply.beliefs);
    const orphans = reply.beliefs.filter((belief) => this.#isOrphan(belief, sight));
    if (orphans.length > 0) say({ kind: 'orphans-found', orphans });
    if (!reply.isQuarantineWaiting) say({ kind: 'quarantine-clear' });
    else if (random.next() < DRAIN_CHANCE) say({ kind: 'quarantine-waits' });
  }

  /** One that is not held may be of a claim whose reply is out. */
  #tellCancels(beliefs: readonly Belief[]): void {
    const { holdings, say } = this.#deps;
    const cancelled = beliefs.filter(({ cancelRequested }) => cancelRequested);
    const keys = cancelled.map(runKey).filter((key) => holdings.find(key) !== undefined);
    if (keys.length > 0) say({ kind: 'cancel-asked', keys });
    for (const belief of cancelled) holdings.cancelEarly(belief);
  }

  /** What was held when the beat was sent may have been settled since, and its claim may still have been out. */
  #isOrphan(belief: Belief, { held, claiming }: Sight): boolean {
    const { holdings } = this.#deps;
    const key = runKey(belief);
    const isInFlight = claiming.has(belief.token) || holdings.isClaiming(belief.token);
    return !isInFlight && !held.has(key) && holdings.find(key) === undefined;
  }

  /** An outcome that is already on its way is left to the fence. */
  #lose(run: Holding, reason: 'stale' | 'unconfirmed'): void {
    if (run.isSettling || run.isLost || this.#deps.holdings.find(run.key) !== run) return;
    run.isLost = true;
    this.#deps.say({ kind: 'run-lost', key: run.key, reason });
  }
}
