import { StoreNotices, Transport } from '@deadman/domain';
import type {
  DeathHandler,
  EffectStore,
  JobStore,
  LeaseStore,
  OutboxEntry,
  StoreNotice,
  Subscription,
  TicketSink,
  WakeUpSet,
  WorkerRegistry,
} from '@deadman/domain';
import type { Broker } from './broker.js';
import type { Network } from './network.js';
import type { Process } from './process.js';
import type { ServerName } from './fault-plan.js';

export interface RemotePorts {
  readonly store: JobStore;
  readonly registry: WorkerRegistry;
  readonly effects: EffectStore;
  readonly leases: LeaseStore;
  readonly wakeUps: WakeUpSet;
  readonly transport: Transport;
  readonly notices: StoreNotices;
}

/** Hears the answers that a process gets. */
export type ReplyListener = (method: string, args: readonly unknown[], reply: unknown, sentAtMs: number) => void;

/**
 * A port whose every call crosses the network. The in-memory adapter stands at the far end, so the engine meets the same
 * answers as always, only late, lost, or after it was told that they would not come.
 */
export function remote<Port extends object>(
  port: Port,
  server: ServerName,
  sender: Process,
  network: Network,
  onReply: ReplyListener = () => {},
): Port {
  return new Proxy(port, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== 'function' || typeof name !== 'string') return method;
      return async (...args: unknown[]) => {
        const sentAtMs = sender.clock.monotonicMs();
        const act = async (): Promise<unknown> => method.apply(target, args);
        const reply = await network.call(sender, server, `${server} ${name}`, args, act);
        onReply(name, args, reply, sentAtMs);
        return reply;
      };
    },
  });
}

/** What a broker is to one process. */
export class RemoteTransport extends Transport {
  readonly #broker: Broker;
  readonly #network: Network;
  readonly #process: Process;

  constructor(broker: Broker, network: Network, process: Process) {
    super();
    this.#broker = broker;
    this.#network = network;
    this.#process = process;
  }

  override async publish(entries: readonly OutboxEntry[]): Promise<readonly string[]> {
    const send = async (entry: OutboxEntry): Promise<string> => {
      const append = async (): Promise<void> => this.#broker.append(entry);
      await this.#network.call(this.#process, 'kafka', 'kafka publish', [entry], append);
      return entry.id;
    };
    const sent = await Promise.allSettled(entries.map(send));
    return sent.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  }

  override async consumeReady(queues: readonly string[], sink: TicketSink): Promise<Subscription> {
    return this.#broker.join(this.#process, queues, sink);
  }

  override async consumeDead(handler: DeathHandler): Promise<Subscription> {
    return this.#broker.record(this.#process, handler);
  }
}

/** Notices reach a process that is well and connected, most of the time: nothing may depend on them. */
export class RemoteNotices extends StoreNotices {
  readonly #notices: StoreNotices;
  readonly #network: Network;
  readonly #process: Process;

  constructor(notices: StoreNotices, network: Network, process: Process) {
    super();
    this.#notices = notices;
    this.#network = network;
    this.#process = process;
  }

  override subscribe(listener: (notice: StoreNotice) => void): Promise<{ unsubscribe(): Promise<void> }> {
    return this.#notices.subscribe((notice) => {
      const arrives = this.#process.isWell && this.#network.reaches(this.#process, 'postgres');
      if (arrives && !this.#network.isLost(this.#process)) listener(notice);
    });
  }
}
