import type { TrackedMessage } from './partition-book.js';

/** A message that came from a broker. */
export interface Delivery {
  readonly value: Buffer | null;
  /** It was handed over, and its offset may be committed once `message` is settled. In the order of the deliveries. */
  accept(message: TrackedMessage): void;
}

/** Whom a consumer hands its messages to. */
export interface MessageReceiver {
  /**
   * Hands messages over from the front and accepts each of them. False: the rest, beginning with the first that was not
   * accepted, is to be delivered again once `whenReady` resolves. Never throws.
   */
  take(deliveries: readonly Delivery[]): boolean | Promise<boolean>;

  /** Resolves when `take` is worth a try again, or as soon as the signal aborts. */
  whenReady(signal: AbortSignal): Promise<void>;
}
