import { createServer, type Server, type Socket } from 'node:net';
import { findFreePort } from '@deadman/embedded-postgres';
import { PASS, isLinkFault, type Direction, type Fault, type FaultScope, type FlowFault } from './fault-proxy-fault.js';
import { Link } from './fault-proxy-link.js';
import { ReplyCut, type ReplyCutOptions } from './fault-proxy-reply-cut.js';

const HOST = '127.0.0.1';

const DIRECTIONS: readonly Direction[] = ['toServer', 'toClient'];

/**
 * A TCP proxy that stands before a server of a test and makes its network go wrong, at run time and by data, so that a
 * fault plan can be written down, repeated and shrunk. It knows no protocol: PostgreSQL, Redis and Kafka pass alike.
 *
 * It is close at hand for PostgreSQL and Redis by `url`. A Kafka client learns its broker's address from the broker,
 * so it goes through `proxySocketFactory`.
 */
export class FaultProxy {
  private server: Server | null = null;
  private readonly links = new Set<Link>();
  private readonly cuts = new Set<ReplyCut<Link>>();
  private readonly faults: Record<Direction, FlowFault> = { toServer: PASS, toClient: PASS };
  private resetsNewcomers = false;
  private readonly target: { host: string; port: number };

  private constructor(
    private readonly targetUrl: string,
    readonly port: number,
  ) {
    this.target = parseTarget(targetUrl);
  }

  /** `target` is a URL, or `host:port`. Everything passes until told otherwise. */
  static async start(target: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, await findFreePort());
    await proxy.listen();
    return proxy;
  }

  /** The target's URL, or `host:port`, with the proxy in its place. */
  get url(): string {
    return this.through(this.targetUrl);
  }

  /** Any URL of the same server, with the proxy in its place. */
  through(url: string): string {
    if (!url.includes('://')) return `${HOST}:${this.port}`;
    const changed = new URL(url);
    changed.hostname = HOST;
    changed.port = String(this.port);
    return changed.href;
  }

  /** Connections that stand, on either side. */
  get connections(): number {
    return this.links.size;
  }

  /** From now on. A fault takes the place of the one before it in the same scope. */
  async inject(fault: Fault, { direction, connections = 'all' }: FaultScope = {}): Promise<void> {
    if (connections !== 'existing') await this.meetNewcomers(fault, direction);
    if (connections === 'new') return;
    for (const link of this.links) {
      if (isLinkFault(fault)) link.reset();
      else for (const each of direction ? [direction] : DIRECTIONS) link.inject(fault, each);
    }
  }

  /** Ends all faults. Connections that lost something are reset. */
  async heal(): Promise<void> {
    await this.inject(PASS);
  }

  /**
   * Lets one request reach the server, and breaks the connection off when the reply comes: the act was done, and its
   * client does not know. Resolves once that has happened; nothing is cut after it.
   */
  cutOneReply(options: ReplyCutOptions = {}): Promise<void> {
    for (const cut of this.cuts) if (cut.over) this.cuts.delete(cut);
    const cut = new ReplyCut<Link>(options);
    this.cuts.add(cut);
    return cut.done;
  }

  /** Resets whatever still stands. Safe to repeat. */
  async close(): Promise<void> {
    for (const cut of this.cuts) cut.giveUp();
    this.cuts.clear();
    this.stopListening();
    for (const link of this.links) link.reset();
  }

  private async meetNewcomers(fault: Fault, direction: Direction | undefined): Promise<void> {
    this.resetsNewcomers = fault.kind === 'reset';
    if (fault.kind === 'refuse') return this.stopListening();
    await this.listen();
    if (!isLinkFault(fault)) for (const each of direction ? [direction] : DIRECTIONS) this.faults[each] = fault;
  }

  private async listen(): Promise<void> {
    if (this.server) return;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.accept(client));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, HOST, resolve);
    });
    this.server = server;
  }

  private stopListening(): void {
    this.server?.close();
    this.server = null;
  }

  private accept(client: Socket): void {
    if (this.resetsNewcomers) {
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const { target, cuts } = this;
    this.links.add(
      new Link({ client, target, cuts, faults: { ...this.faults }, onClosed: (link) => this.forget(link) }),
    );
  }

  private forget(link: Link): void {
    this.links.delete(link);
    for (const cut of this.cuts) cut.forget(link);
  }
}

function parseTarget(target: string): { host: string; port: number } {
  const { hostname, port } = new URL(target.includes('://') ? target : `tcp://${target}`);
  if (!port) throw new Error(`${target} has to name a port.`);
  return { host: hostname, port: Number(port) };
}
