import type { Clock } from '@deadman/domain';
import type { Consumer, ConsumerGroupJoinEvent, EachBatchPayload } from 'kafkajs';
import type { KafkaClient } from './kafka-client.js';
import type { ResolvedOptions } from './kafka-options.js';
import type { KafkaTransportListener } from './kafka-transport-listener.js';
import type { Delivery, MessageReceiver } from './message-receiver.js';
import { OffsetCommitter } from './offset-committer.js';
import { OffsetLedger } from './offset-ledger.js';
import { PartitionHolds } from './partition-holds.js';
import { PartitionLags } from './partition-lags.js';
import type { Session } from './topic-consumer.js';
import { fetchEnds } from './topics.js';
import { bounded } from './within.js';

/** Bytes of one partition in one fetch: some thousand ids. What a full receiver refuses is fetched again, so it is not much. */
const BYTES_PER_PARTITION = 64 * 1024;

/** kafkajs ends a session after these; the session's owner then makes another. Milliseconds. */
const RETRY = { initialRetryTime: 100, maxRetryTime: 1_000, factor: 0.2, multiplier: 2, retries: 10 } as const;

/** How long after its stop a consumer may take to tell of its crash. Milliseconds. */
const STOP_GRACE_MS = 2_000;

/** How long the last commit and the farewell may take; without one, the group misses the member a session later. Milliseconds. */
const LEAVE_LIMIT_MS = 3_000;

/** Batches of different partitions that are handed over at once. */
const CONCURRENT_BATCHES = 4;

export interface ConsumerSessionDeps {
  readonly topic: string;
  readonly groupId: string;
  readonly client: KafkaClient;
  readonly receiver: MessageReceiver;
  readonly clock: Clock;
  readonly listener: KafkaTransportListener;
}

/**
 * One life of a kafkajs consumer, from its connection until it crashes or leaves. It hands over what is fetched, holds
 * partitions while the receiver is full, and commits what the ledger says.
 *
 * kafkajs runs on its own in between, and this class relies on no more than its events and its `eachBatch`:
 * - it beats only between fetches, so that a batch must end at once, or beat by itself;
 * - a partition that was paused stays so when it goes and comes back (its issue #1720), so that an assignment resumes all.
 */
export class ConsumerSession implements Session {
  readonly #deps: ConsumerSessionDeps;
  readonly #options: ResolvedOptions;
  readonly #ledger: OffsetLedger;
  readonly #consumer: Consumer;
  readonly #stopping = new AbortController();
  readonly #batches = new Set<Promise<void>>();
  readonly #committer: OffsetCommitter;
  readonly #holds: PartitionHolds;
  readonly #lags: PartitionLags;
  readonly #ended: Promise<unknown>;
  #end!: (error: unknown) => void;
  #starting: Promise<void> = Promise.resolve();
  #isJoined = false;
  #heardAtMs: number;
  #fetchedAtMs: number;

  constructor(deps: ConsumerSessionDeps, options: ResolvedOptions) {
    this.#deps = deps;
    this.#options = options;
    const { clock, listener, topic } = deps;
    this.#heardAtMs = this.#fetchedAtMs = clock.monotonicMs();
    this.#ended = new Promise((resolve) => (this.#end = resolve));
    this.#ledger = new OffsetLedger(
      { offsetHoldMs: options.timings.offsetHoldMs, maxTracked: options.maxTracked },
      {
        staleDropped: (count) => listener.on({ kind: 'stale-commit-dropped', topic, count }),
        offsetsLetGo: (count) => listener.on({ kind: 'offsets-let-go', topic, count }),
      },
    );
    this.#consumer = this.#createConsumer();
    this.#committer = new OffsetCommitter({ ...deps, ledger: this.#ledger }, options.timings.commitEveryMs);
    this.#holds = new PartitionHolds({
      ...deps,
      pause: (partitions) => this.#tryTo(() => this.#consumer.pause([{ topic, partitions }])),
      resume: (partitions) => this.#tryTo(() => this.#consumer.resume([{ topic, partitions }])),
      signal: this.#stopping.signal,
    });
    const held = (): readonly number[] => this.#holds.held;
    this.#lags = new PartitionLags({ ...deps, held, fetchEnds: () => fetchEnds(deps.client, topic) });
    this.#listen();
  }

  /** Resolves with what ended the session, when it ends by itself. */
  get ended(): Promise<unknown> {
    return this.#ended;
  }

  /** Since when nothing was heard of the group or, while no batch is under way, nothing was fetched. */
  get silentSinceMs(): number {
    return this.#batches.size > 0 ? this.#heardAtMs : Math.min(this.#heardAtMs, this.#fetchedAtMs);
  }

  get isJoined(): boolean {
    return this.#isJoined;
  }

  /** Connects, joins the group and begins to deliver. What fails is told by `ended`. */
  start(): void {
    this.#starting = this.#run().catch((error: unknown) => this.#end(error));
    this.#committer.start();
    void this.#lags.watch(this.#stopping.signal);
  }

  /** Hands over nothing more and waits for the batches under way, but stays in the group. */
  async pause(): Promise<void> {
    this.#stopping.abort();
    this.#tryTo(() => this.#consumer.pause([{ topic: this.#deps.topic }]));
    await Promise.all(this.#batches);
  }

  /** Waits for the batches under way, commits what is settled and leaves the group, each within its limit. */
  async close(): Promise<void> {
    const { clock } = this.#deps;
    await bounded(clock, this.#options.timings.closeLimitMs, this.pause());
    await bounded(clock, LEAVE_LIMIT_MS, this.#leave());
    this.abandon();
  }

  /** Cuts its connections. What settles from now on moves no offset. */
  abandon(): void {
    this.#stopping.abort();
    this.#committer.stop();
    this.#isJoined = false;
    this.#ledger.assign([]);
    this.#deps.client.cut();
    void this.#consumer.disconnect().catch(() => undefined);
  }

  #createConsumer(): Consumer {
    const { sessionTimeoutMs, heartbeatMs, rebalanceTimeoutMs, fetchWaitMs } = this.#options.timings;
    return this.#deps.client.kafka.consumer({
      groupId: this.#deps.groupId,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: heartbeatMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      maxWaitTimeInMs: fetchWaitMs,
      maxBytesPerPartition: BYTES_PER_PARTITION,
      allowAutoTopicCreation: false,
      retry: { ...RETRY, restartOnFailure: () => Promise.resolve(false) },
    });
  }

  #listen(): void {
    const { events } = this.#consumer;
    this.#consumer.on(events.CONNECT, () => this.#hear());
    this.#consumer.on(events.HEARTBEAT, () => this.#hear());
    this.#consumer.on(events.FETCH, () => this.#fetched());
    this.#consumer.on(events.REBALANCING, () => this.#onRebalancing());
    this.#consumer.on(events.GROUP_JOIN, (event) => this.#onJoined(event));
    this.#consumer.on(events.CRASH, ({ payload }) => this.#end(payload.error));
    this.#consumer.on(events.STOP, () => this.#onStopped());
  }

  /** Before a crash is told, the consumer stops; what it crashed of is worth the wait. */
  #onStopped(): void {
    this.#deps.clock.setTimer(STOP_GRACE_MS, () => this.#end(new Error('The consumer has stopped')));
  }

  #hear(): void {
    this.#heardAtMs = this.#deps.clock.monotonicMs();
  }

  #fetched(): void {
    this.#fetchedAtMs = this.#deps.clock.monotonicMs();
  }

  async #run(): Promise<void> {
    const { topic } = this.#deps;
    await this.#consumer.connect();
    await this.#consumer.subscribe({ topics: [topic], fromBeginning: true });
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: CONCURRENT_BATCHES,
      eachBatch: (payload) => this.#onBatch(payload),
    });
  }

  #onRebalancing(): void {
    this.#committer.leaving();
    this.#isJoined = false;
    this.#deps.listener.on({ kind: 'rebalance-began', topic: this.#deps.topic });
  }

  #onJoined({ payload }: ConsumerGroupJoinEvent): void {
    const { topic, listener } = this.#deps;
    const partitions = payload.memberAssignment[topic] ?? [];
    this.#hear();
    this.#fetched();
    this.#ledger.assign(partitions);
    this.#isJoined = true;
    this.#committer.joined();
    this.#holds.forget();
    this.#lags.forget();
    const isStopping = this.#stopping.signal.aborted;
    this.#tryTo(() => (isStopping ? this.#consumer.pause([{ topic }]) : this.#consumer.resume([{ topic }])));
    listener.on({ kind: 'partitions-assigned', topic, partitions });
  }

  async #onBatch(payload: EachBatchPayload): Promise<void> {
    this.#committer.use((offsets) => payload.commitOffsetsIfNecessary(offsets));
    if (this.#stopping.signal.aborted || payload.isStale()) return;
    const batch = this.#deliver(payload);
    this.#batches.add(batch);
    await batch.finally(() => this.#batches.delete(batch));
    this.#fetched();
  }

  async #deliver(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const { partition } = batch;
    this.#noticeNewLog(partition, BigInt(batch.highWatermark));
    const { generation } = this.#ledger;
    let last: string | null = null;
    const deliveries = batch.messages.map(({ value, offset }): Delivery => ({
      value,
      accept: (message) => {
        this.#ledger.track(generation, partition, BigInt(offset), message);
        last = offset;
      },
    }));
    const isTaken = await this.#take(deliveries, () => payload.heartbeat());
    if (generation !== this.#ledger.generation) return;
    if (last !== null) {
      payload.resolveOffset(last);
      this.#holds.taken();
    }
    const next = last === null ? BigInt(batch.messages[0]?.offset ?? batch.highWatermark) : BigInt(last) + 1n;
    this.#lags.handedOver(partition, next, BigInt(batch.highWatermark));
    if (!isTaken) this.#holds.hold(partition);
  }

  /** A receiver that hands over and returns needs no beat in between. */
  #take(deliveries: readonly Delivery[], heartbeat: () => Promise<void>): boolean | Promise<boolean> {
    const taken = this.#deps.receiver.take(deliveries);
    return typeof taken === 'boolean' ? taken : this.#beatDuring(taken, heartbeat);
  }

  async #beatDuring(taken: Promise<boolean>, heartbeat: () => Promise<void>): Promise<boolean> {
    const { clock } = this.#deps;
    const { heartbeatMs, handlingLimitMs } = this.#options.timings;
    const done = new AbortController();
    const beatUntilMs = clock.monotonicMs() + handlingLimitMs;
    const beat = async (): Promise<void> => {
      while (!done.signal.aborted && clock.monotonicMs() < beatUntilMs) {
        await clock.sleep(heartbeatMs / 2, done.signal);
        // That the group joins again is learned after the batch.
        if (!done.signal.aborted) await heartbeat().catch(() => undefined);
      }
    };
    void beat();
    return taken.finally(() => done.abort());
  }

  /** A log that ends before what was committed of it is another one: the topic was made anew. */
  #noticeNewLog(partition: number, end: bigint): void {
    if (end < (this.#ledger.committed(partition) ?? 0n)) this.#ledger.restart(partition);
  }

  /** A consumer that is stopped while it starts would go on afterwards (kafkajs's issues #967, #1639). */
  async #leave(): Promise<void> {
    await this.#starting;
    await this.#committer.commit();
    await this.#consumer.disconnect();
  }

  /** kafkajs throws when it does not run at the moment; then there is nothing to pause or to resume. */
  #tryTo(act: () => void): void {
    try {
      act();
    } catch {
      return;
    }
  }
}
