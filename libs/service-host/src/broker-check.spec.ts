import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { brokerCheck } from './broker-check.js';

describe('brokerCheck', () => {
  let server: Server | null = null;

  afterEach(() => void server?.close());

  const check = (brokers: readonly string[]): Promise<void> =>
    brokerCheck(brokers, 'waits').check(new AbortController().signal);

  it('is content with one broker of several', async () => {
    server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(check(['127.0.0.1:1', `127.0.0.1:${port}`])).resolves.toBeUndefined();
  });

  it('says why when there is none', async () => {
    await expect(check(['127.0.0.1:1', '127.0.0.1:2'])).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
