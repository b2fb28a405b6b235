import { connect as connectTcp, isIP, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Kafka, logLevel } from 'kafkajs';
import type { ISocketFactory, ISocketFactoryArgs, logCreator } from 'kafkajs';
import type { KafkaConnection, KafkaTimings } from './kafka-options.js';
import { GIVEN_UP } from './kafka-log.js';
import './kafkajs-codecs.js';
import './kafkajs-request-queue.js';

/** How soon the system asks whether the other side of a silent connection still lives. Milliseconds. */
const KEEP_ALIVE_MS = 10_000;

/** Few and soon: whoever uses the client repeats on its own terms. Both kinds of defaults of kafkajs are longer. */
const RETRY = { initialRetryTime: 100, maxRetryTime: 500, factor: 0.2, multiplier: 2, retries: 2 } as const;

/**
 * A kafkajs client whose connections can be cut for good. Each consumer and each producer has one of its own: kafkajs
 * shares the committed offsets among all consumers of a client, and one that was given up can go on fetching (its issues
 * #1593, #1639) for as long as it has a connection.
 */
export class KafkaClient {
  readonly kafka: Kafka;
  readonly #open: ISocketFactory;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  constructor(connection: KafkaConnection, timings: KafkaTimings, logCreator: logCreator) {
    this.#open = connection.socketFactory ?? openSocket;
    const { ssl, sasl } = connection;
    this.kafka = new Kafka({
      brokers: [...connection.brokers],
      clientId: connection.clientId,
      ...(ssl === undefined ? {} : { ssl }),
      ...(sasl === undefined ? {} : { sasl }),
      connectionTimeout: timings.connectionTimeoutMs,
      requestTimeout: timings.requestTimeoutMs,
      retry: RETRY,
      logLevel: logLevel.WARN,
      logCreator,
      socketFactory: (args) => this.#socket(args),
    });
  }

  /** Destroys every connection and lets no new one come up. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy(new Error(GIVEN_UP));
  }

  #socket(args: ISocketFactoryArgs): Socket {
    if (this.#isCut) return new Socket().destroy(new Error(GIVEN_UP));
    const socket = this.#open(args);
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }
}

function openSocket({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket {
  const socket = ssl
    ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
    : connectTcp({ host, port }, onConnect);
  return socket.setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay(true);
}
