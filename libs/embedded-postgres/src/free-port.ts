import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections (Linux from 32768, others from 49152). A client that keeps
 * trying a port in that range while its server is down is some day given that very port as its own: it then connects
 * to itself, and the server cannot come back.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 29_999;

/** With a tenth of the ports taken, which is a lot, all of these fail once in 10^50 calls. */
const TRIES = 50;

/** A port of 127.0.0.1 that was free a moment ago. Somebody may take it meanwhile, so a bind may still fail. */
export async function findFreePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    const fault = await whyNotFree(port);
    if (fault === null) return port;
    if (tries === TRIES) throw fault;
  }
}

function whyNotFree(port: number): Promise<Error | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', resolve);
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(null)));
  });
}
