import type { DeathNotice, Ticket } from '@deadman/domain';
import { BaseRpcContext, RpcException, Server } from '@nestjs/microservices';
import type { CustomTransportStrategy, MessageHandler } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import { ConsumerFactory } from './consumer-factory.js';
import { DeathReceiver } from './death-receiver.js';
import { HandlerReceiver } from './handler-receiver.js';
import type { Refusal } from './handler-receiver.js';
import type { KafkaTransportDeps } from './kafka-deps.js';
import { resolveOptions } from './kafka-options.js';
import type { KafkaTransportOptions } from './kafka-options.js';
import type { MessageReceiver } from './message-receiver.js';
import { TicketReader } from './ticket-reader.js';
import type { ConsumerStatus, TopicConsumer } from './topic-consumer.js';
import { TopicNames } from './topic-names.js';

/** The second argument of `@EventPattern` for handlers of this transport. */
export const KAFKA_TICKETS = Symbol('deadman:kafka-tickets');

/**
 * A handler throws it when it has no room for the tickets: they are delivered again when there is. Nest's exception filter
 * passes the error of an `RpcException` on as it is, and replaces every other by one that says nothing.
 */
export class TicketsRefused extends RpcException implements Refusal {
  readonly #whenRoom: () => Promise<void>;

  constructor(whenRoom: () => Promise<void>) {
    super('No room for the tickets');
    this.#whenRoom = whenRoom;
  }

  whenRoom(): Promise<void> {
    return this.#whenRoom();
  }

  override getError(): this {
    return this;
  }
}

/** What a handler learns of a batch besides its tickets. */
export class KafkaTicketContext extends BaseRpcContext<[string]> {
  /** Without the prefix. */
  get topic(): string {
    return this.args[0];
  }
}

export interface KafkaTicketServerOptions extends KafkaTransportOptions {
  /** Topics this process consumes, without the prefix. Each needs a handler: `listen` fails for one that has none. */
  readonly topics: readonly string[];
}

/**
 * The Nest transport strategy for `jobs.ready`, `jobs.ready.<queue>` and `jobs.dead`:
 *
 * ```ts
 * @EventPattern('jobs.ready', KAFKA_TICKETS) onTickets(@Payload() tickets: readonly Ticket[]): void
 * @EventPattern('jobs.dead', KAFKA_TICKETS) onDeaths(@Payload() deaths: readonly DeathNotice[]): Promise<void>
 * ```
 *
 * A handler of tickets hands them over and returns; each job's `claimed` and `done` move the offset, not the return. A handler of deaths
 * is done with those that it returned for. What a handler throws on, or its Observable fails with, is delivered again.
 */
export class KafkaTicketServer extends Server<Record<string, never>> implements CustomTransportStrategy {
  override readonly transportId = KAFKA_TICKETS;
  override readonly propagatesEventHandlerErrors = true;
  readonly #deps: KafkaTransportDeps;
  readonly #topics: readonly string[];
  readonly #names: TopicNames;
  readonly #prefix: string;
  readonly #factory: ConsumerFactory;
  #consumers: readonly TopicConsumer[] = [];

  constructor(deps: KafkaTransportDeps, { topics, ...options }: KafkaTicketServerOptions) {
    super();
    this.#deps = deps;
    this.#topics = topics;
    this.#names = new TopicNames();
    this.#prefix = options.topicPrefix ?? '';
    this.#factory = new ConsumerFactory(deps, resolveOptions(options));
  }

  /** How each consumer is. */
  get consumers(): readonly ConsumerStatus[] {
    return this.#consumers.map((consumer) => consumer.status);
  }

  /** Begins to consume, whether a broker can be reached or not. Fails, consuming nothing, when handlers and topics do not match. */
  override listen(callback: (error?: unknown) => void): void {
    const fault = this.#mismatch();
    if (fault !== null) return callback(new Error(fault));
    this.#consumers = this.#topics.map((topic) => this.#consume(topic));
    callback();
  }

  /** Hands over nothing more and stays in the groups, so that what still runs can be committed. Calling twice does nothing. */
  async pause(): Promise<void> {
    await Promise.all(this.#consumers.map((consumer) => consumer.pause()));
  }

  /** Commits what is settled and leaves the groups. Calling twice does nothing: Nest does it too, after the application has. */
  override async close(): Promise<void> {
    await Promise.all(this.#consumers.map((consumer) => consumer.close()));
  }

  override on(): never {
    throw new Error('The ticket server has no events; give it a listener');
  }

  override unwrap<T>(): T {
    return this.#consumers as T;
  }

  /** A topic without a handler would be deaf, and a handler without its topic would wait for ever. */
  #mismatch(): string | null {
    const handled = [...this.messageHandlers.keys()];
    const missing = this.#topics.filter((topic) => !handled.includes(topic));
    if (missing.length > 0) return `No handler for the topic ${missing.join(', ')}`;
    const unknown = this.#topics.filter((topic) => topic !== this.#names.dead && this.#names.queueOf(topic) === null);
    if (unknown.length > 0) return `Not a topic of tickets or deaths: ${unknown.join(', ')}`;
    const idle = handled.filter((topic) => !this.#topics.includes(topic));
    return idle.length > 0 ? `A handler waits for a topic that is not consumed: ${idle.join(', ')}` : null;
  }

  #consume(pattern: string): TopicConsumer {
    const topic = `${this.#prefix}${pattern}`;
    return this.#factory.create({ topic, receiver: this.#receiver(pattern, topic) });
  }

  #receiver(pattern: string, topic: string): MessageReceiver {
    const { listener } = this.#factory;
    const { clock, random } = this.#deps;
    const malformed = this.#factory.malformed(topic);
    const queue = this.#names.queueOf(pattern);
    if (queue === null) {
      const handler = (deaths: readonly DeathNotice[]): Promise<void> => this.#handle(pattern, deaths);
      return new DeathReceiver({ topic, handler, malformed, listener, clock, random });
    }
    const reader = new TicketReader(queue, malformed, clock);
    const handler = (tickets: readonly Ticket[]): Promise<Refusal | null> => this.#offer(pattern, tickets);
    return new HandlerReceiver({ topic, reader, handler, listener, clock, random });
  }

  async #offer(pattern: string, tickets: readonly Ticket[]): Promise<Refusal | null> {
    try {
      await this.#handle(pattern, tickets);
      return null;
    } catch (error) {
      if (error instanceof TicketsRefused) return error;
      throw error;
    }
  }

  /** Between Nest's hooks. A handler's failure arrives as one of its Observable, which nobody would notice who did not wait. */
  async #handle(pattern: string, payload: readonly Ticket[] | readonly DeathNotice[]): Promise<void> {
    const handler: MessageHandler | null = this.getHandlerByPattern(pattern);
    if (handler === null) throw new Error(`No handler for the topic ${pattern}`);
    const context = new KafkaTicketContext([pattern]);
    await new Promise<void>((resolve, reject) => {
      const handled = (): Promise<void> => this.#call(handler, payload, context).then(resolve, reject);
      this.onProcessingStartHook(this.transportId, context, handled);
    });
  }

  async #call(handler: MessageHandler, payload: unknown, context: KafkaTicketContext): Promise<void> {
    try {
      const result: unknown = await handler(payload, context);
      if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
    } finally {
      this.onProcessingEndHook?.(this.transportId, context);
    }
  }
}
