import { connect, type Socket } from 'node:net';
import type { FaultProxy } from './fault-proxy.js';

/** What kafkajs hands to its `socketFactory`; its own type, without its package. */
interface SocketRequest {
  readonly onConnect: () => void;
}

/** As kafkajs has it. Milliseconds. */
const KEEP_ALIVE_DELAY_MS = 60_000;

/**
 * kafkajs's `socketFactory` for a cluster of one broker: every connection goes through the proxy, whatever address the
 * broker has told the client.
 */
export function proxySocketFactory(proxy: FaultProxy): (request: SocketRequest) => Socket {
  return ({ onConnect }) => {
    const socket = connect({ host: '127.0.0.1', port: proxy.port }, onConnect);
    return socket.setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
  };
}
