import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { eventually, RecordingSink } from '@deadman/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { freshPrefix, ObservedTransport, readyOn } from './kafka-harness.contract.js';

jest.setTimeout(120_000);

/** Failures in a row at which a process would be told to end: fewer than the losses that a case waits for. */
const MAX_FAILURES = 3;
const LOSSES = 2 * MAX_FAILURES;

/** What takes connections where a broker should, as one that is frozen or overloaded, or a load balancer before none. */
class WouldBeBroker {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(meet: (socket: Socket) => void) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      meet(socket);
    });
  }

  static async start(meet: (socket: Socket) => void): Promise<WouldBeBroker> {
    const broker = new WouldBeBroker(meet);
    await new Promise<void>((resolve) => broker.#server.listen(0, '127.0.0.1', resolve));
    return broker;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe('KafkaTransport and what is no broker', () => {
  let broker: WouldBeBroker;
  let transport: ObservedTransport;

  afterEach(async () => {
    await transport.close();
    await broker.close();
  });

  it.each<[string, (socket: Socket) => void]>([
    ['takes connections and answers nothing', (socket) => void socket.resume()],
    ['takes connections and ends them', (socket) => void socket.destroy()],
    ['hears a request and hangs up', (socket) => void socket.once('data', () => socket.end())],
    ['answers in HTTP', (socket) => void socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))],
  ])('one that %s is unreachable, and ends no process', async (_how, meet) => {
    broker = await WouldBeBroker.start(meet);
    transport = new ObservedTransport({
      connection: { brokers: [broker.address], clientId: 'silence' },
      topicPrefix: freshPrefix(),
      maxFailures: MAX_FAILURES,
      timings: { connectionTimeoutMs: 300, requestTimeoutMs: 300, rebuildMaxMs: 200, publishLimitMs: 2_000 },
    });
    await transport.consumeReady(['default'], new RecordingSink());
    await transport.consumeDead(async () => undefined);
    expect(await transport.publish([readyOn([1])])).toEqual([]);
    await eventually(() => expect(transport.of('consumer-lost').length).toBeGreaterThan(2 * LOSSES), {
      withinMs: 60_000,
    });
    for (const lost of transport.of('consumer-lost'))
      expect(lost).toMatchObject({ reason: 'unreachable', failures: 0 });
    expect(transport.status.map(({ state }) => state)).toEqual(['unreachable', 'unreachable']);
    expect(transport.fatal).toEqual([]);
  });
});
