import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { assertPortIsFree } from './free-port.js';

let squatter: Server | null = null;
afterEach(() => void squatter?.close());

describe('assertPortIsFree', () => {
  it('says which setting to change when the port is taken, and nothing once it is free', async () => {
    const server = createServer();
    squatter = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(assertPortIsFree('PORT', '127.0.0.1', port)).rejects.toMatchObject({
      exitCode: 69,
      message: `Port ${port} on 127.0.0.1 is in use. Stop what uses it, or set PORT to another port.`,
    });
    await new Promise((resolve) => server.close(resolve));
    await expect(assertPortIsFree('PORT', '127.0.0.1', port)).resolves.toBeUndefined();
  });

  it('says what is wrong with an address that is none of this machine', async () => {
    await expect(assertPortIsFree('PORT', '203.0.113.1', 8080)).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining('cannot be listened on'),
    });
  });
});
