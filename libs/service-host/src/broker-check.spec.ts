import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { brokerCheck } from './broker-check.js';

describe('brokerCheck', () => {
  const sockets = new Set<Socket>();
  let server: Server | null = null;

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server?.close();
  });

  /** Where a broker of this kind listens. */
  const broker = async (meet: (socket: Socket) => void): Promise<string> => {
    server = createServer((socket) => {
      sockets.add(socket);
      meet(socket);
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  const check = (brokers: readonly string[], signal = new AbortController().signal): Promise<void> =>
    brokerCheck(brokers, 'waits').check(signal);

  it('is content when one broker of several answers', async () => {
    const address = await broker((socket) => void socket.once('data', () => socket.write('an answer')));
    await expect(check(['127.0.0.1:1', address])).resolves.toBeUndefined();
  });

  it('says why when there is none', async () => {
    await expect(check(['127.0.0.1:1', '127.0.0.1:2'])).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('is not content with one that takes the connection and says nothing', async () => {
    const timeUp = new AbortController();
    const address = await broker((socket) => void socket.once('data', () => timeUp.abort()));
    await expect(check([address], timeUp.signal)).rejects.toThrow('no answer in time');
  });

  it('is not content with one that hangs up', async () => {
    const address = await broker((socket) => void socket.once('data', () => socket.end()));
    await expect(check([address])).rejects.toThrow('hung up without an answer');
  });
});
