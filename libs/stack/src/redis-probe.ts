import { exchange } from './socket-exchange.js';

const LIMIT_MS = 1_000;

/** Null when the Redis on `port` answers PING, and otherwise why not. */
export async function whyRedisIsNotReady(port: number): Promise<string | null> {
  try {
    const answer = await exchange({ port, send: Buffer.from('PING\r\n'), read: firstLine, withinMs: LIMIT_MS });
    return answer === '+PONG' ? null : `PING was answered with ${answer}`;
  } catch (error) {
    return (error as Error).message;
  }
}

function firstLine(received: Buffer): string | null {
  const end = received.indexOf('\r\n');
  return end === -1 ? null : received.subarray(0, end).toString();
}
