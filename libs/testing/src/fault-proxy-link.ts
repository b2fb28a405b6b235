import { connect, type Socket } from 'node:net';
import type { Direction, FlowFault } from './fault-proxy-fault.js';
import { Flow } from './fault-proxy-flow.js';
import type { ReplyCut } from './fault-proxy-reply-cut.js';

export interface LinkOptions {
  readonly client: Socket;
  readonly target: { readonly host: string; readonly port: number };
  readonly faults: Readonly<Record<Direction, FlowFault>>;
  /** Those that still wait for their request. */
  readonly cuts: ReadonlySet<ReplyCut<Link>>;
  readonly onClosed: (link: Link) => void;
}

/** One client's connection, and the one to the server that belongs to it. */
export class Link {
  private readonly client: Socket;
  private readonly server: Socket;
  private readonly flows: Readonly<Record<Direction, Flow>>;
  private brokenOff = false;

  constructor(private readonly options: LinkOptions) {
    this.client = options.client;
    this.server = connect({ ...options.target, allowHalfOpen: true, noDelay: true });
    this.flows = { toServer: new Flow(this.client, this.server), toClient: new Flow(this.server, this.client) };
    this.inject(options.faults.toServer, 'toServer');
    this.inject(options.faults.toClient, 'toClient');
    this.client.on('data', (bytes) => this.onRequest(bytes));
    this.server.on('data', (bytes) => this.onReply(bytes));
    this.connectEnds(this.client, this.server, this.flows.toServer);
    this.connectEnds(this.server, this.client, this.flows.toClient);
  }

  inject(fault: FlowFault, direction: Direction): void {
    const flow = this.flows[direction];
    flow.set(fault);
    if (fault.kind !== 'drop' && flow.hasHole) this.reset();
  }

  /** Both sides see their connection reset by peer. */
  reset(): void {
    resetSocket(this.client);
    resetSocket(this.server);
  }

  private onRequest(bytes: Buffer): void {
    for (const cut of this.options.cuts) cut.request(this, bytes);
    this.flows.toServer.take(bytes);
  }

  private onReply(bytes: Buffer): void {
    for (const cut of this.options.cuts) {
      const passing = cut.reply(this, bytes);
      if (passing !== null) return this.breakOff(bytes.subarray(0, passing));
    }
    this.flows.toClient.take(bytes);
  }

  /** The client sees the beginning of the reply and the end of the connection. */
  private breakOff(beginning: Buffer): void {
    this.brokenOff = true;
    if (beginning.length > 0) this.client.write(beginning);
    this.client.destroySoon();
    resetSocket(this.server);
  }

  private connectEnds(source: Socket, sink: Socket, flow: Flow): void {
    source.on('end', () => flow.take(null));
    // The close that follows an error says all we need.
    source.on('error', () => undefined);
    source.on('close', () => {
      if (this.client.destroyed && this.server.destroyed) this.options.onClosed(this);
      // After an orderly end the flow carries the rest; anything else was a reset.
      if (source.readableEnded || sink.destroyed || this.brokenOff) return;
      if (flow.carriesResets) resetSocket(sink);
      else flow.lose();
    });
  }
}

/**
 * A socket that has said its end cannot be reset any more: libuv refuses, and Node then keeps the handle open, which
 * spins once the peer has gone. Its peer has been told of the end anyway.
 */
function resetSocket(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
