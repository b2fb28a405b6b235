import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findFreePort } from '@deadman/embedded-postgres';
import { eventually } from './eventually.js';
import { FaultProxy } from './fault-proxy.js';
import { proxySocketFactory } from './fault-proxy-socket-factory.js';

/** Longer than anything here takes to arrive, and short enough to wait for nothing. Milliseconds. */
const A_WHILE = 150;

const aWhile = (ms = A_WHILE): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One end of a connection, with all that happened to it. */
class End {
  text = '';
  ended = false;
  error: string | null = null;
  closed = false;

  constructor(readonly socket: Socket) {
    socket.on('data', (bytes) => (this.text += bytes.toString()));
    socket.on('end', () => (this.ended = true));
    socket.on('error', (error: NodeJS.ErrnoException) => (this.error = error.code ?? error.message));
    socket.on('close', () => (this.closed = true));
  }

  says(text: string): this {
    this.socket.write(text);
    return this;
  }
}

function expectToHear(end: End, text: string): Promise<void> {
  return eventually(() => expect(end.text).toBe(text));
}

function expectReset(end: End): Promise<void> {
  return eventually(() => expect(end).toMatchObject({ closed: true, error: 'ECONNRESET' }));
}

describe('fault proxy', () => {
  let server: Server;
  let served: End[];
  let proxy: FaultProxy;
  let clients: End[];

  beforeEach(async () => {
    served = [];
    clients = [];
    server = createServer({ allowHalfOpen: true }, (socket) => served.push(new End(socket)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    proxy = await FaultProxy.start(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  });

  afterEach(async () => {
    await proxy.close();
    for (const { socket } of [...clients, ...served]) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  function newClient(): End {
    const client = new End(connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true }));
    clients.push(client);
    return client;
  }

  /** A client whose server side is known, and both have heard each other. */
  async function connected(): Promise<{ client: End; peer: End }> {
    const client = newClient().says('hello ');
    const peer = await eventually(() => {
      const found = served.find(({ text }) => text === 'hello ');
      if (!found) throw new Error('not connected yet');
      return found;
    });
    peer.says('welcome ');
    await expectToHear(client, 'welcome ');
    client.text = peer.text = '';
    return { client, peer };
  }

  it('passes bytes and ends, each way on its own', async () => {
    const { client, peer } = await connected();
    client.socket.end('last words');
    await expectToHear(peer, 'last words');
    await eventually(() => expect(peer.ended).toBe(true));
    peer.says('still talking');
    await expectToHear(client, 'still talking');
    peer.socket.end();
    await eventually(() => expect(proxy.connections).toBe(0));
    expect(client).toMatchObject({ error: null, ended: true });
  });

  it('passes megabytes unchanged, in order', async () => {
    const { client, peer } = await connected();
    const text = Array.from({ length: 400_000 }, (_, line) => `${line}\n`).join('');
    client.says(text);
    await eventually(() => expect(peer.text.length).toBe(text.length));
    expect(peer.text === text).toBe(true);
  });

  it('latency: delays one direction, keeps the order, and lets go at once when healed', async () => {
    const { client, peer } = await connected();
    await proxy.inject({ kind: 'latency', ms: 400 }, { direction: 'toClient' });
    const start = performance.now();
    peer.says('one ').says('two ');
    client.says('quick');
    await expectToHear(peer, 'quick');
    await expectToHear(client, 'one two ');
    expect(performance.now() - start).toBeGreaterThanOrEqual(395);

    await proxy.inject({ kind: 'latency', ms: 3_600_000 }, { direction: 'toClient' });
    peer.says('three');
    await aWhile();
    expect(client.text).toBe('one two ');
    await proxy.heal();
    await expectToHear(client, 'one two three');
  });

  it('throttle: takes as long as the rate says', async () => {
    const { client, peer } = await connected();
    await proxy.inject({ kind: 'throttle', bytesPerSecond: 10_000 });
    const start = performance.now();
    client.says('x'.repeat(5_000));
    await eventually(() => expect(peer.text.length).toBeGreaterThan(0));
    expect(peer.text.length).toBeLessThan(5_000);
    await eventually(() => expect(peer.text.length).toBe(5_000));
    expect(performance.now() - start).toBeGreaterThanOrEqual(495);
  });

  it('stall: holds bytes back without losing one, and makes the sender wait', async () => {
    const { client, peer } = await connected();
    await proxy.inject({ kind: 'stall' });
    const text = 'y'.repeat(32 * 1024 * 1024);
    client.says(text);
    await aWhile();
    expect(peer.text).toBe('');
    expect(client.socket.writableLength).toBeGreaterThan(0);
    await proxy.heal();
    await eventually(() => expect(peer.text.length).toBe(text.length));
  });

  it('drop: accepts and swallows everything, ends and resets included, until it is healed', async () => {
    const { client, peer } = await connected();
    await proxy.inject({ kind: 'drop' });
    client.says('lost');
    peer.socket.resetAndDestroy();
    const newcomer = newClient().says('lost too');
    await once(newcomer.socket, 'connect');
    await aWhile();
    expect(served.map(({ text }) => text).join('')).toBe('');
    expect(client).toMatchObject({ ended: false, closed: false, error: null });

    await proxy.heal();
    await expectReset(client);
    await expectReset(newcomer);
    await connected();
  });

  it('drop in one direction: a half-open connection, whose other direction goes on', async () => {
    const { client, peer } = await connected();
    await proxy.inject({ kind: 'drop' }, { direction: 'toClient' });
    client.says('heard');
    peer.says('unheard');
    await expectToHear(peer, 'heard');
    await aWhile();
    expect(client.text).toBe('');
    client.says(' again');
    await expectToHear(peer, 'heard again');
    await proxy.heal();
    await expectReset(peer);
    await expectReset(client);
  });

  it('drop: spares a connection that lost nothing meanwhile', async () => {
    const { client, peer } = await connected();
    await proxy.inject({ kind: 'drop' });
    await proxy.heal();
    client.says('intact');
    await expectToHear(peer, 'intact');
  });

  it('reset: resets both sides, and newcomers until it is healed', async () => {
    const { client, peer } = await connected();
    await proxy.inject({ kind: 'reset' });
    await expectReset(client);
    await expectReset(peer);
    await expectReset(newClient());
    await proxy.heal();
    await connected();
  });

  it('reset of existing connections leaves newcomers alone', async () => {
    const { client } = await connected();
    await proxy.inject({ kind: 'reset' }, { connections: 'existing' });
    await expectReset(client);
    await connected();
  });

  it('refuse: nobody listens, and later the same port answers again', async () => {
    const { client } = await connected();
    await proxy.inject({ kind: 'refuse' });
    await expectReset(client);
    const refused = newClient();
    await eventually(() => expect(refused.error).toBe('ECONNREFUSED'));
    await proxy.heal();
    await connected();
  });

  it('a fault for newcomers spares those who are connected', async () => {
    const { client, peer } = await connected();
    await proxy.inject({ kind: 'refuse' }, { connections: 'new' });
    const refused = newClient();
    await eventually(() => expect(refused.error).toBe('ECONNREFUSED'));
    client.says('still here');
    await expectToHear(peer, 'still here');
  });

  it('a server that is not there is a reset connection', async () => {
    const nowhere = await FaultProxy.start(`127.0.0.1:${await findFreePort()}`);
    const client = new End(connect(nowhere.port, '127.0.0.1'));
    await expectReset(client);
    await nowhere.close();
  });

  it('a server that resets its connection is felt by the client', async () => {
    const { client, peer } = await connected();
    peer.socket.resetAndDestroy();
    await expectReset(client);
  });

  it('cut reply: the request arrives, its reply does not, and others are not touched', async () => {
    const one = await connected();
    const other = await connected();
    const cut = proxy.cutOneReply({ request: (sent) => sent.includes('COMMIT') });
    one.client.says('BEGIN');
    await expectToHear(one.peer, 'BEGIN');
    one.peer.says('ok');
    await expectToHear(one.client, 'ok');
    one.client.says('COM').says('MIT');
    await expectToHear(one.peer, 'BEGINCOMMIT');
    other.peer.says('news');
    await expectToHear(other.client, 'news');
    one.peer.says('done');
    await cut;
    await eventually(() => expect(one.client.ended).toBe(true));
    expect(one.client.text).toBe('ok');
    await expectReset(one.peer);
    other.client.says('COMMIT');
    other.peer.says(' and more');
    await expectToHear(other.client, 'news and more');
  });

  it('cut reply: after so many bytes of it', async () => {
    const { client, peer } = await connected();
    const cut = proxy.cutOneReply({ afterBytes: 6 });
    client.says('question');
    await expectToHear(peer, 'question');
    peer.says('ans');
    await expectToHear(client, 'ans');
    peer.says('wered');
    await cut;
    await eventually(() => expect(client.ended).toBe(true));
    expect(client.text).toBe('answer');
  });

  it('cut reply: waits for another request when the first one never got its reply', async () => {
    const cut = proxy.cutOneReply({ request: (sent) => sent.toString().endsWith('?') });
    const first = await connected();
    first.client.says('first?');
    await expectToHear(first.peer, 'first?');
    first.peer.socket.resetAndDestroy();
    await expectReset(first.client);
    const second = await connected();
    second.client.says('second?');
    await expectToHear(second.peer, 'second?');
    second.peer.says('no');
    await cut;
    expect(second.client.text).toBe('');
  });

  it('cut reply: says so when the proxy closes before', async () => {
    const cut = proxy.cutOneReply();
    await proxy.close();
    await expect(cut).rejects.toThrow('before a reply could be cut');
  });

  it('close: ends every connection, also one that had said its end', async () => {
    const { client, peer } = await connected();
    client.socket.end();
    await eventually(() => expect(peer.ended).toBe(true));
    await proxy.close();
    await eventually(() => expect(proxy.connections).toBe(0));
  });

  it('puts itself into URLs', async () => {
    const port = String(proxy.port);
    expect(proxy.url).toBe(`127.0.0.1:${port}`);
    expect(proxy.through('redis://localhost:6379/2')).toBe(`redis://127.0.0.1:${port}/2`);
    expect(proxy.through('postgres://me:secret@db.example/jobs?x=1')).toBe(
      `postgres://me:secret@127.0.0.1:${port}/jobs?x=1`,
    );
  });

  it('socket factory: goes through the proxy whatever address was asked for', async () => {
    const request = { host: 'broker.invalid', port: 9, onConnect: (): void => undefined };
    const socket = proxySocketFactory(proxy)(request);
    clients.push(new End(socket).says('hello '));
    await eventually(() => expect(served[0]?.text).toBe('hello '));
  });
});
