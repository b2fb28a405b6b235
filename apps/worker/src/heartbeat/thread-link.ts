import { receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';

/**
 * One end of the path between the worker's thread and its heart's. Messages are heard in the order in which they were
 * sent, as they arrive or, when somebody cannot wait, all that were sent until now.
 */
export class ThreadLink<Heard, Said> {
  readonly #port: MessagePort;
  readonly #hear: (message: Heard) => void;
  #isOpen = true;

  constructor(port: MessagePort, hear: (message: Heard) => void) {
    this.#port = port;
    this.#hear = hear;
    port.on('message', (message: Heard) => this.#hear(message));
  }

  say(message: Said): void {
    if (this.#isOpen) this.#port.postMessage(message);
  }

  /** Hears at once what was sent and has not arrived: `postMessage` queues at the receiver before it returns. */
  catchUp(): void {
    if (!this.#isOpen) return;
    for (;;) {
      const received = receiveMessageOnPort(this.#port);
      if (received === undefined) return;
      this.#hear(received.message as Heard);
    }
  }

  close(): void {
    this.#isOpen = false;
    this.#port.close();
  }
}
