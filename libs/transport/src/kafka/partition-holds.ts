import type { Clock } from '@deadman/domain';
import type { KafkaTransportListener } from './kafka-transport-listener.js';
import type { MessageReceiver } from './message-receiver.js';

/** Pause before a receiver that told of room, and took nothing then, is believed again. Milliseconds. */
const FRUITLESS_PAUSE_MS = 100;

export interface PartitionHoldsDeps {
  readonly topic: string;
  readonly receiver: MessageReceiver;
  readonly clock: Clock;
  readonly listener: KafkaTransportListener;
  /** Stop and begin to fetch from these partitions. */
  readonly pause: (partitions: number[]) => void;
  readonly resume: (partitions: number[]) => void;
  /** Aborts when nothing is to be resumed any more. */
  readonly signal: AbortSignal;
}

/** Back-pressure: what a receiver has no room for lies at the broker meanwhile, so that memory stays flat. */
export class PartitionHolds {
  readonly #deps: PartitionHoldsDeps;
  readonly #held = new Set<number>();
  #isWaiting = false;
  #isFruitless = false;

  constructor(deps: PartitionHoldsDeps) {
    this.#deps = deps;
  }

  /** The partitions that are not fetched from. */
  get held(): readonly number[] {
    return [...this.#held];
  }

  /** The partition is not fetched from until the receiver is ready. */
  hold(partition: number): void {
    const { topic, listener, pause } = this.#deps;
    this.#held.add(partition);
    pause([partition]);
    listener.on({ kind: 'partition-held', topic, partition });
    if (!this.#isWaiting) void this.#resumeWhenReady();
  }

  /** The receiver has taken something since it told of room. */
  taken(): void {
    this.#isFruitless = false;
  }

  /** All partitions are new, and none of them is held. */
  forget(): void {
    this.#held.clear();
  }

  async #resumeWhenReady(): Promise<void> {
    const { receiver, clock, resume, signal } = this.#deps;
    this.#isWaiting = true;
    if (this.#isFruitless) await clock.sleep(FRUITLESS_PAUSE_MS, signal);
    await receiver.whenReady(signal);
    this.#isWaiting = false;
    this.#isFruitless = true;
    if (signal.aborted || this.#held.size === 0) return;
    const partitions = [...this.#held];
    this.#held.clear();
    resume(partitions);
  }
}
