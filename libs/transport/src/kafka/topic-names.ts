const READY = 'jobs.ready';
const DEAD = 'jobs.dead';
const DEFAULT_QUEUE = 'default';

/**
 * Which topic carries what: `jobs.ready` the tickets of the queue `default`, `jobs.ready.<queue>` those of another, and
 * `jobs.dead` the deaths. A prefix keeps installations apart that share a cluster.
 */
export class TopicNames {
  readonly #prefix: string;

  constructor(prefix = '') {
    this.#prefix = prefix;
  }

  get dead(): string {
    return `${this.#prefix}${DEAD}`;
  }

  ready(queue: string): string {
    const topic = `${this.#prefix}${READY}`;
    return queue === DEFAULT_QUEUE ? topic : `${topic}.${queue}`;
  }

  /** The queue whose tickets a topic carries; null when it carries none. */
  queueOf(topic: string): string | null {
    const ready = this.ready(DEFAULT_QUEUE);
    if (topic === ready) return DEFAULT_QUEUE;
    return topic.startsWith(`${ready}.`) ? topic.slice(ready.length + 1) : null;
  }

  /**
   * The consumer group of a topic. Each topic has one of its own: kafkajs deals out the partitions of all topics of a group
   * to all its members, asking nobody which of them he subscribed to, so that a worker of other queues would be given some
   * that it never reads.
   */
  groupOf(topic: string): string {
    return `deadman.${topic}`;
  }
}
