import { JobStore, LeaseStore, StoreNotices, Transport, WakeUpSet, WorkerRegistry } from '@deadman/domain';
import type { DeathHandler, OutboxEntry, StoreNotice, Subscription, TicketSink } from '@deadman/domain';
import type { Broker } from './broker.js';
import type { Network } from './network.js';
import type { Process } from './process.js';
import type { ServerName } from './fault-plan.js';

/**
 * A port whose every call crosses the network. The in-memory adapter stands at the far end, so the engine meets the same
 * answers as always, only late, lost, or after it was told that they would not come.
 */
export function remote<Port extends object>(port: Port, server: ServerName, sender: Process, network: Network): Port {
  return new Proxy(port, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== 'function' || typeof name !== 'string') return method;
      return (...args: unknown[]) =>
        network.call(sender, server, () => Promise.resolve(method.apply(target, args)), `${server} ${name}`);
    },
  });
}

export interface RemotePorts {
  readonly store: JobStore;
  readonly registry: WorkerRegistry;
  readonly leases: LeaseStore;
  readonly wakeUps: WakeUpSet;
  readonly transport: Transport;
  readonly notices: StoreNotices;
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
    const send = async ({ id, ...entry }: OutboxEntry): Promise<string> => {
      await this.#network.call(
        this.#process,
        'kafka',
        async () => this.#broker.append({ id, ...entry } as OutboxEntry),
        'kafka publish',
      );
      return id;
    };
    const sent = await Promise.allSettled(entries.map(send));
    return sent.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  }

  override async consumeReady(_queues: readonly string[], sink: TicketSink): Promise<Subscription> {
    return toSubscription(this.#broker.join(this.#process, sink));
  }

  override async consumeDead(handler: DeathHandler): Promise<Subscription> {
    return toSubscription(this.#broker.record(this.#process, handler));
  }
}

/** Notices reach a process that is well, most of the time: nothing may depend on them. */
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
      if (this.#process.isWell && this.#network.isUp('postgres')) listener(notice);
    });
  }
}

function toSubscription({ leave }: { leave: () => void }): Subscription {
  let isClosed = false;
  return {
    close: async () => {
      if (!isClosed) leave();
      isClosed = true;
    },
  } as Subscription;
}
