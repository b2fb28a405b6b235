import { once } from 'node:events';
import { connect } from 'node:net';

/** Longest wait for an answer. Milliseconds. */
const ANSWER_WITHIN_MS = 5_000;

/** Redis takes a plain line of text; a driver would be one dependency more for one word. Returns what comes first. */
export async function askRedis(url: string, command: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  try {
    socket.write(`${command}\r\n`);
    const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })) as [Buffer];
    return answer.toString();
  } finally {
    socket.destroy();
  }
}
