import type { Clock } from '@deadman/domain';
import type { KafkaTransportListener } from './kafka-transport-listener.js';

/** How often the ends of held partitions are asked for. Milliseconds. */
const LOOK_EVERY_MS = 5_000;

export interface PartitionLagsDeps {
  readonly topic: string;
  readonly clock: Clock;
  readonly listener: KafkaTransportListener;
  /** The partitions that nothing is fetched from at present. */
  readonly held: () => readonly number[];
  /** Asks the brokers where each partition of the topic ends. Throws when they do not say. */
  readonly fetchEnds: () => Promise<ReadonlyMap<number, bigint>>;
}

/**
 * Tells how many messages wait. A batch brings the end of its partition along; of one that is held no batch comes, just
 * when the number matters most, so that its end is asked for.
 */
export class PartitionLags {
  readonly #deps: PartitionLagsDeps;
  /** Partition → the offset of the first message that was not handed over. */
  readonly #next = new Map<number, bigint>();

  constructor(deps: PartitionLagsDeps) {
    this.#deps = deps;
  }

  /** What lies below `next` was handed over, and the partition ended at `end`. */
  handedOver(partition: number, next: bigint, end: bigint): void {
    this.#next.set(partition, next);
    this.#tell(partition, end);
  }

  /** All partitions are new. */
  forget(): void {
    this.#next.clear();
  }

  /** Looks after held partitions until the signal aborts. Never rejects. */
  async watch(signal: AbortSignal): Promise<void> {
    const { clock, held } = this.#deps;
    while (!signal.aborted) {
      await clock.sleep(LOOK_EVERY_MS, signal);
      if (!signal.aborted && held().length > 0) await this.#look(signal);
    }
  }

  /** What has been resumed or has gone meanwhile, its next batch or its new owner tells of. */
  async #look(signal: AbortSignal): Promise<void> {
    const { held, fetchEnds } = this.#deps;
    try {
      const ends = await fetchEnds();
      if (signal.aborted) return;
      for (const partition of held()) {
        const end = ends.get(partition);
        if (end !== undefined) this.#tell(partition, end);
      }
    } catch {
      // That no broker answers, the consumer finds out by itself.
      return;
    }
  }

  #tell(partition: number, end: bigint): void {
    const next = this.#next.get(partition);
    if (next === undefined) return;
    const lag = end > next ? Number(end - next) : 0;
    this.#deps.listener.on({ kind: 'partition-lag', topic: this.#deps.topic, partition, lag });
  }
}
