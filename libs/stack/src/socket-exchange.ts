import { connect } from 'node:net';

export interface Exchange {
  host?: string;
  port: number;
  /** Sent as soon as the connection stands. */
  send: Buffer;
  /** Reads an answer out of what came so far: null while there is too little. Whatever it throws is the outcome. */
  read: (received: Buffer) => string | null;
  withinMs: number;
}

/** Asks a server one question over a connection of its own, and resolves with what `read` made of the answer. */
export function exchange({ host = '127.0.0.1', port, send, read, withinMs }: Exchange): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const socket = connect({ host, port });
    const settle = (finish: () => void): void => {
      socket.destroy();
      finish();
    };
    const fail = (reason: unknown): void => settle(() => reject(reason as Error));
    socket.setTimeout(withinMs, () => fail(new Error(`no answer from port ${port} within ${withinMs} ms`)));
    socket.once('error', fail);
    socket.once('close', () => fail(new Error(`port ${port} closed the connection`)));
    socket.once('connect', () => socket.write(send));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      try {
        const answer = read(received);
        if (answer !== null) settle(() => resolve(answer));
      } catch (error) {
        fail(error);
      }
    });
  });
}

/** Null when something accepts connections there, and otherwise why not. */
export function whyNotReachable(host: string, port: number, withinMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (answer: string | null): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(withinMs, () => settle(`${host}:${port} does not accept connections within ${withinMs} ms`));
    socket.once('error', (error: NodeJS.ErrnoException) => settle(`${host}:${port}: ${error.code ?? error.message}`));
    socket.once('connect', () => settle(null));
  });
}
