/** A row of the outbox: what has to be said to others because the state changed. */
export type OutboxEntry =
  /** These jobs of one queue may be ready. */
  | { readonly id: string; readonly kind: 'ready'; readonly queue: string; readonly jobIds: readonly string[] }
  /** This job died at this attempt. */
  | { readonly id: string; readonly kind: 'dead'; readonly jobId: string; readonly attempt: number };

/** A message that names jobs which may be ready. Whoever gets it says of each id when it need not be delivered again. */
export interface Ticket {
  readonly queue: string;
  readonly jobIds: readonly string[];
  /**
   * The id's job was claimed here: from now on its row is what guards it. A ticket of which every id is claimed or done may
   * be forgotten after a while; one that waits is kept for others, however long. Calling twice does nothing.
   */
  claimed(jobId: string): void;
  /** The id's attempt has been settled here, or it could not be claimed. Calling twice does nothing. */
  done(jobId: string): void;
}

/** The bounded queue that takes tickets from a transport. */
export interface TicketSink {
  /** Takes all of them or none: false when there is no room. Never throws. */
  offer(tickets: readonly Ticket[]): boolean;

  /** Resolves when there is room again, or when the sink closes. */
  whenRoom(): Promise<void>;
}

/** Handles a batch of deaths; the transport delivers again what it throws on. */
export type DeathHandler = (deaths: readonly { readonly jobId: string; readonly attempt: number }[]) => Promise<void>;

export interface Subscription {
  /**
   * Stops deliveries for good and waits for the one under way, but stays subscribed: what was delivered before is not given
   * to others meanwhile and can still be done. So a shutdown pauses, lets its jobs end, and closes. Calling twice does nothing.
   */
  pause(): Promise<void>;

  /** Pauses, and leaves: what was delivered and is not done goes to others. Calling twice does nothing. */
  close(): Promise<void>;
}

/** Carries wake-ups. May lose, repeat and reorder them: no job's safety hangs on it. */
export abstract class Transport {
  /**
   * Sends the messages of outbox rows and returns the ids of the rows of which every message was acknowledged. A row that
   * is not among them may have been sent in part. Never throws for an unreachable broker; bounded in time.
   */
  abstract publish(entries: readonly OutboxEntry[]): Promise<readonly string[]>;

  /** Delivers tickets of these queues to `sink`, and stops while it is full. */
  abstract consumeReady(queues: readonly string[], sink: TicketSink): Promise<Subscription>;

  abstract consumeDead(handler: DeathHandler): Promise<Subscription>;
}
