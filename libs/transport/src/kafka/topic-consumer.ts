import { isDeadmanError, retryDelayMs, Silence } from '@deadman/domain';
import type { Clock, ExponentialBackoff, Random, Subscription } from '@deadman/domain';
import { isBrokersFault } from './kafka-errors.js';
import type { ResolvedOptions } from './kafka-options.js';
import type { KafkaTransportListener } from './kafka-transport-listener.js';
import { bounded } from './within.js';

/** How often a session is asked when it was last heard of. Milliseconds. */
const WATCH_EVERY_MS = 1_000;

/** One life of a consumer; `ConsumerSession` is one. */
export interface Session extends Subscription {
  readonly isJoined: boolean;
  /** Since when nothing was heard of it. Milliseconds of the clock. */
  readonly silentSinceMs: number;
  /** Resolves with the reason when it ends by itself. */
  readonly ended: Promise<unknown>;
  start(): void;
  /** Ends it at once, without a farewell. */
  abandon(): void;
}

export interface TopicConsumerDeps {
  readonly topic: string;
  /** Sees to it that the topic exists. Throws when it cannot. */
  readonly ensureTopic: () => Promise<void>;
  readonly openSession: () => Session;
  readonly clock: Clock;
  readonly random: Random;
  readonly listener: KafkaTransportListener;
  /** Nothing that this process tries helps; it should end with a code other than 0. Called once. */
  readonly onFatal: (error: unknown) => void;
}

/** How a consumer is, for health checks. */
export interface ConsumerStatus {
  readonly topic: string;
  /** `unreachable` says that no broker answers, or none that can serve, which a restart of this process does not mend. */
  readonly state: 'joining' | 'joined' | 'unreachable' | 'failing' | 'closed';
}

interface Loss {
  readonly reason: 'unreachable' | 'crashed' | 'deaf';
  readonly error: unknown;
}

/**
 * Keeps one topic consumed. It makes the topic, runs a session until that is lost, and makes another, with growing pauses.
 * A session is lost when it crashes, and when nothing was heard of it for a while: kafkajs can sit there beating and
 * fetching nothing (its issues #659, #1119, #1720).
 *
 * While the brokers are at fault it tries for ever: the work goes on without tickets. Other failures in a row are counted,
 * and at the limit the process is told to end, so that it never sits alive and deaf. Too few partitions are fatal at once.
 *
 * Whose fault a loss was, its error does not always tell: a broker that has frozen makes a session deaf, or crash of
 * something that comes after. So a look at the topic decides: when that fails for want of the brokers, the fault is theirs.
 */
export class TopicConsumer implements Subscription {
  readonly #deps: TopicConsumerDeps;
  readonly #options: ResolvedOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #session: Session | null = null;
  #state: ConsumerStatus['state'] = 'joining';
  #failures = 0;
  #losses = 0;
  #isFatal = false;
  #closed: Promise<void> | null = null;

  constructor(deps: TopicConsumerDeps, options: ResolvedOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#running = this.#run();
  }

  get status(): ConsumerStatus {
    const isJoined = this.#session?.isJoined ?? false;
    return { topic: this.#deps.topic, state: isJoined && this.#state === 'joining' ? 'joined' : this.#state };
  }

  async pause(): Promise<void> {
    this.#stopping.abort();
    await this.#session?.pause();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    await this.#session?.close();
    await bounded(this.#deps.clock, this.#options.timings.closeLimitMs, this.#running);
    this.#state = 'closed';
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const beganMs = this.#deps.clock.monotonicMs();
      const loss = await this.#runSession();
      if (loss === null || signal.aborted) return;
      const ranMs = this.#deps.clock.monotonicMs() - beganMs;
      await this.#deps.clock.sleep(this.#noteLoss(loss, ranMs), signal);
    }
  }

  /** Null when it was stopped. A paused session is not made anew: what it would be for is only to commit. */
  async #runSession(): Promise<Loss | null> {
    const fault = await this.#lookAtTopic();
    if (fault !== null) return fault;
    if (this.#stopping.signal.aborted) return null;
    this.#state = 'joining';
    const session = this.#deps.openSession();
    this.#session = session;
    session.start();
    const loss = await this.#watch(session);
    if (loss === null) return null;
    session.abandon();
    return loss.reason === 'unreachable' ? loss : ((await this.#lookAtTopic()) ?? loss);
  }

  /** Null when the topic is there and served. */
  async #lookAtTopic(): Promise<Loss | null> {
    try {
      await this.#deps.ensureTopic();
      return null;
    } catch (error) {
      return lossBy(error);
    }
  }

  async #watch(session: Session): Promise<Loss | null> {
    const { clock } = this.#deps;
    const { signal } = this.#stopping;
    const over = new AbortController();
    const stop = (): void => over.abort();
    signal.addEventListener('abort', stop, { once: true });
    let loss: Loss | null = null;
    const isDeaf = this.#listenTo(session);
    void session.ended.then((error) => {
      loss = lossBy(error);
      stop();
    });
    while (!over.signal.aborted) {
      await clock.sleep(WATCH_EVERY_MS, over.signal);
      if (over.signal.aborted || !isDeaf()) continue;
      const silentMs = Math.round(clock.monotonicMs() - session.silentSinceMs);
      loss ??= { reason: 'deaf', error: new Error(`Nothing was heard of the group for ${silentMs} ms`) };
      stop();
    }
    signal.removeEventListener('abort', stop);
    return signal.aborted ? null : loss;
  }

  /**
   * To be asked once in each `WATCH_EVERY_MS`. A handler that blocks this thread makes every session silent; what was said
   * meanwhile is heard in the moments after, so that the stall itself counts for next to nothing.
   */
  #listenTo(session: Session): () => boolean {
    const { clock } = this.#deps;
    const silence = new Silence(clock.monotonicMs(), WATCH_EVERY_MS);
    let silentSinceMs = session.silentSinceMs;
    return () => {
      const silentMs = silence.look(clock.monotonicMs());
      const isHeard = session.silentSinceMs !== silentSinceMs;
      silentSinceMs = session.silentSinceMs;
      if (isHeard) silence.broken();
      return !isHeard && silentMs >= this.#options.timings.deafAfterMs;
    };
  }

  /** Returns the pause before the next session. Milliseconds. */
  #noteLoss({ reason, error }: Loss, ranMs: number): number {
    if (ranMs >= this.#options.timings.healthyAfterMs + this.#options.timings.deafAfterMs) this.#forgetFailures();
    this.#losses += 1;
    if (reason !== 'unreachable') this.#failures += 1;
    this.#state = reason === 'unreachable' ? 'unreachable' : 'failing';
    const retryInMs = this.#pauseMs();
    const { listener, topic } = this.#deps;
    listener.on({ kind: 'consumer-lost', topic, reason, error, failures: this.#failures, retryInMs });
    if (isHopeless(error) || this.#failures >= this.#options.maxFailures) this.#giveUp(error);
    return retryInMs;
  }

  #forgetFailures(): void {
    this.#failures = 0;
    this.#losses = 0;
  }

  #pauseMs(): number {
    const { rebuildBaseMs: baseMs, rebuildMaxMs: maxMs } = this.#options.timings;
    const backoff: ExponentialBackoff = { kind: 'exponential', baseMs, factor: 2, maxMs, jitter: 'equal' };
    return retryDelayMs(backoff, this.#losses, Infinity, this.#deps.random) ?? maxMs;
  }

  #giveUp(error: unknown): void {
    if (this.#isFatal) return;
    this.#isFatal = true;
    this.#deps.onFatal(error);
  }
}

function lossBy(error: unknown): Loss {
  return { reason: isBrokersFault(error) ? 'unreachable' : 'crashed', error };
}

/** A topic with too few partitions stays so until a person has changed it. */
function isHopeless(error: unknown): boolean {
  return isDeadmanError(error, 'configuration-invalid');
}
