import { URL_VARIABLE, type ServiceName } from './service.js';
import { whyNotReachable } from './socket-exchange.js';
import { StackError } from './stack-error.js';

const REACH_WITHIN_MS = 3_000;

/** The port a URL means when it names none. */
const USUAL_PORT: Readonly<Record<ServiceName, number>> = { postgres: 5432, redis: 6379, kafka: 9092 };

/** A server of somebody else's, which the environment names. We only look whether it can be reached. */
export class GivenServer {
  private readonly address: { host: string; port: number };

  constructor(
    readonly name: ServiceName,
    readonly url: string,
  ) {
    this.address = parseAddress(name, url);
  }

  get port(): number {
    return this.address.port;
  }

  whyNotReady(): Promise<string | null> {
    return whyNotReachable(this.address.host, this.address.port, REACH_WITHIN_MS);
  }
}

/** Of several brokers the first. */
function parseAddress(name: ServiceName, url: string): { host: string; port: number } {
  const first = name === 'kafka' ? `kafka://${url.split(',')[0]!.trim()}` : url;
  const parsed = URL.canParse(first) ? new URL(first) : null;
  if (!parsed?.hostname) throw new StackError(`${URL_VARIABLE[name]} does not name a server.`);
  return { host: parsed.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(parsed.port) || USUAL_PORT[name] };
}
